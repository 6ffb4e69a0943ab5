package io.penstock.node;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/// What the launcher has the JVM remember for its next start: a replay, gets and puts, long enough for profiles of the
/// methods that move blocks. Not for people.
@Command(name = "train", hidden = true, description = "Trains the AOT cache; started by the launcher.")
final class TrainCommand implements Callable<Integer> {
  private static final List<List<String>> LINES = List.of(
      List.of("replay", "--limit", "300"),
      start("get", "4KiB", "1"), start("put", "64KiB", "8"), start("get", "64KiB", "8"), start("put", "1MiB", "1"),
      start("get", "1MiB", "1"));

  private final Console console;

  TrainCommand(Console console) {
    this.console = console;
  }

  private static List<String> start(String direction, String blockBytes, String layers) {
    return List.of("bench", "start", "--here", "--seconds", "3", "--direction", direction, "--block-bytes", blockBytes,
        "--layers", layers);
  }

  @Override
  public Integer call() {
    for (List<String> line : LINES) {
      int code = PenstockMain.commandLine(console).execute(line.toArray(String[]::new));
      if (code != ExitCode.OK) {
        return code;
      }
    }
    return ExitCode.OK;
  }
}
