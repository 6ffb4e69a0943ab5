package io.penstock.gateway;

import io.penstock.node.PenstockMain;
import io.penstock.node.cli.Console;
import java.util.List;
import picocli.CommandLine;

/// The command line of a node with `penstock gateway`.
public final class GatewayMain {
  private GatewayMain() {}

  /// Runs one command line and ends the process with its exit code.
  ///
  /// @param args the command line, without the program's name
  public static void main(String[] args) {
    Console console = Console.ofProcess();
    List<CommandLine> own =
        PenstockMain.needed(args).contains("gateway") ? List.of(GatewayCommand.line(console)) : List.of();
    System.exit(PenstockMain.commandLine(console, own, args).execute(args));
  }

  /// The command line, which a process may run beside other things: an interrupt ends the gateway.
  public static CommandLine commandLine(Console console) {
    return PenstockMain.commandLine(console, List.of(GatewayCommand.line(console)));
  }
}
