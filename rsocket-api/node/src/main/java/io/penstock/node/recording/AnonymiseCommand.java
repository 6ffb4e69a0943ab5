package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.play.Salt;
import io.penstock.node.text.Sizes;
import io.penstock.node.tiers.PlayedTiers;
import io.penstock.recording.Difference;
import io.penstock.recording.Player;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `penstock recording anonymise`: copies a recording without what tells whose it is.
@Command(
    name = "anonymise",
    description = {"Copies a recording, into one file, without what tells whose it is.", "",
      "What happened, in which order and after how long, stays, and so does the shape of blocks. Bytes of blocks are"
          + " left out. Hashes of keys become salted hashes; spaces, models, peers, groups, paths, addresses, names of"
          + " tiers, words of the configuration and the time of day are replaced.",
      "Plays the copy, and ends with 1 if it does not play equally.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock recording anonymise incident incident.recording", ""})
final class AnonymiseCommand implements Callable<Integer> {
  private final Console console;

  @Mixin
  private final RecordingPlace recording = new RecordingPlace();

  @Parameters(index = "1", paramLabel = "OUT", description = "The file to be made.")
  private Path out = Path.of("");

  @Option(names = "--salt-file", paramLabel = "FILE",
      description = "Salt of at least 16 bytes, so that several recordings get equal hashes (default: a random salt,"
          + " which is thrown away).")
  private @Nullable Path salt;

  /// @param difference where the copy does not play as it says; null if it does
  record Report(String file, long events, long bytes, boolean equal, @Nullable String difference) {}

  AnonymiseCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    Recordings.requireNew(out);
    Recordings.requireBeginning(recording.place());
    CopiedRecording copied = CopiedRecording.write(recording.place(), out, console, "anonymise",
        new Anonymiser(Salt.of(salt)), null);
    Report report = played(copied);
    if (recording.json()) {
      console.json(report);
    } else {
      console.print("%s: %,d events, %s; %s".formatted(report.file(), report.events(), Sizes.human(report.bytes()),
          report.equal() ? "plays equally" : "does not play equally: " + report.difference()));
    }
    return report.equal() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private Report played(CopiedRecording copied) {
    return Recordings.read(out, reader -> {
      Difference difference;
      try (Player player = new Player(reader, new PlayedTiers(), reader.payloads())) {
        difference = player.play().difference();
      }
      return new Report(copied.file(), copied.events(), copied.bytes(), difference == null,
          difference == null ? null : difference.toString());
    });
  }
}
