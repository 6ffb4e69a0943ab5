package io.penstock.node;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/// Runs what the JVM is to remember for its next start: replays, whose gets and puts of small and large blocks last
/// long enough for profiles of the methods that move them. Started by the launcher and by `bin/penstock train`; not for
/// people.
@Command(name = "train", hidden = true, description = "Trains the AOT cache; started by the launcher.")
final class TrainCommand implements Callable<Integer> {
  private static final List<List<String>> LINES = List.of(
      List.of("replay", "--limit", "300"), replay("1000", "4KiB", "1"), replay("1000", "64KiB", "8"),
      replay("150", "1MiB", "1"));

  private final Console console;

  TrainCommand(Console console) {
    this.console = console;
  }

  private static List<String> replay(String requests, String blockBytes, String layers) {
    return List.of("replay", "--limit", requests, "--block-bytes", blockBytes, "--layers", layers);
  }

  @Override
  public Integer call() {
    for (List<String> line : LINES) {
      String[] arguments = line.toArray(String[]::new);
      int code = PenstockMain.commandLine(console, List.of(), arguments).execute(arguments); // as a start does
      if (code != ExitCode.OK) {
        return code;
      }
    }
    return ExitCode.OK;
  }
}
