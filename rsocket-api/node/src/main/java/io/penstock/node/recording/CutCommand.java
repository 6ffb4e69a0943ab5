package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.play.PlayPoint;
import io.penstock.node.text.Sizes;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `penstock recording cut`: copies the beginning of a recording.
@Command(
    name = "cut",
    description = {"Copies a recording up to a place, into one file that plays, or with --payloads into a folder.", "",
      "The turn of the event is copied whole. What tiers do depends on all that happened before, so a recording is cut"
          + " at its end only.",
      "Without --payloads, bytes of blocks are left out: when the copy is played, they are made from the keys.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock recording cut incident small.recording --until 4711",
      "  penstock recording cut incident small --until 4711 --payloads", ""})
final class CutCommand implements Callable<Integer> {
  private final Console console;

  @Mixin
  private final RecordingPlace recording = new RecordingPlace();

  @Parameters(index = "1", paramLabel = "OUT", description = "The file to be made; the folder with --payloads.")
  private Path out = Path.of("");

  @Option(names = "--until", paramLabel = "EVENT|TIME", required = true,
      description = "The last event, or the time after the first event, such as 2.5s.")
  private String until = "";

  @Option(names = "--payloads",
      description = "Copy the bytes of blocks that were recorded, too. The copy is a folder, as a recording in one file"
          + " has none.")
  private boolean payloads;

  @Option(names = "--from", hidden = true)
  private @Nullable String from;

  CutCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    if (from != null) {
      throw new IllegalArgumentException("--from must be left out: a recording without its beginning cannot be played,"
          + " as what tiers do depends on all that happened before (was " + from + ")");
    }
    PlayPoint last = PlayPoint.parse("--until", until);
    Recordings.requireNew(out);
    Recordings.requireBeginning(recording.place());
    CopiedRecording copied = payloads
        ? CopiedRecording.writeWhole(recording.place(), out, console, "cut", last)
        : CopiedRecording.write(recording.place(), out, console, "cut", event -> event, last);
    if (recording.json()) {
      console.json(copied);
    } else {
      console.print("%s: %,d of %,d events, %s".formatted(copied.file(), copied.events(), copied.of(),
          Sizes.human(copied.bytes())));
      if (payloads) {
        console.print("bytes of blocks: %s".formatted(Sizes.human(copied.payloads())));
      } else if (copied.leftOut() > 0) {
        console.print("bytes of blocks: %s were left out, as without --payloads".formatted(
            Sizes.human(copied.leftOut())));
      }
    }
    return ExitCode.OK;
  }
}
