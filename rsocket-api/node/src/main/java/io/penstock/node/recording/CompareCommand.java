package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// `penstock recording compare`: finds where two recordings first differ.
@Command(
    name = "compare",
    description = {"Finds where two recordings first differ: in the decisions of their tiers, and in each flow.", "",
      "Times, and numbers of flows, slots and events, do not count. A flow is known by its call and its keys, or by its"
          + " name. Ends with 1 if the recordings differ.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock recording compare before after", ""})
final class CompareCommand implements Callable<Integer> {
  private final Console console;

  @Mixin
  private final RecordingPlace recording = new RecordingPlace();

  @Parameters(index = "1", paramLabel = "OTHER", description = "The other recording.")
  private Path other = Path.of("");

  CompareCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    RecordingDifference difference = RecordingDifference.of(recording.place(), other, console);
    if (recording.json()) {
      console.json(difference);
    } else {
      console.print(difference.text());
    }
    return difference.isEqual() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }
}
