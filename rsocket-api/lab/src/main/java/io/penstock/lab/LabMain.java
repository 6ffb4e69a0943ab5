package io.penstock.lab;

import io.penstock.lab.attack.AttackCommand;
import io.penstock.lab.bench.BenchCommand;
import io.penstock.lab.plan.PlanCheckCommand;
import io.penstock.lab.simulate.SimulateCommand;
import io.penstock.lab.torture.TortureCommand;
import io.penstock.node.PenstockMain;
import io.penstock.node.cli.CommandFactory;
import io.penstock.node.cli.Console;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;

/// The command line of the source tree: the commands of a node, and those of the lab.
public final class LabMain {
  private static final List<Class<?>> COMMANDS =
      List.of(PlanCheckCommand.class, SimulateCommand.class, TortureCommand.class, BenchCommand.class);

  private LabMain() {}

  /// Runs one command line and ends the process with its exit code.
  ///
  /// @param args the command line, without the program's name
  public static void main(String[] args) {
    System.exit(commandLine(Console.ofProcess()).execute(args));
  }

  /// Returns the whole command line, ready to execute.
  static CommandLine commandLine(Console console) {
    CommandFactory factory = new CommandFactory(console);
    return PenstockMain.commandLine(console, Stream.concat(Stream.of(AttackCommand.line(console)),
        COMMANDS.stream().map(command -> new CommandLine(command, factory))).toList());
  }
}
