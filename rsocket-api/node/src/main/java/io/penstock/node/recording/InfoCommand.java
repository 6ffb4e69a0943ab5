package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `penstock recording info`: says what is in a recording.
@Command(
    name = "info",
    description = {"Says what is in a recording, and whether it can be played.", "",
      "Ends with 1 if it cannot be played.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock recording info incident --json", ""})
final class InfoCommand implements Callable<Integer> {
  private final Console console;

  @Mixin
  private final RecordingPlace recording = new RecordingPlace();

  InfoCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    RecordingInfo info = RecordingInfo.of(recording.place(), console);
    if (recording.json()) {
      console.json(info);
    } else {
      console.print(info.text());
    }
    return info.playable() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }
}
