package io.penstock.node.replay;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.text.Json;
import io.penstock.node.tiers.PlayedTiers;
import io.penstock.recording.Difference;
import io.penstock.recording.EventCodec;
import io.penstock.recording.Player;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.storage.recording.RecordingReader;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Plays a recording, and says whether all that happened happened again.
final class RecordingPlay {
  private RecordingPlay() {}

  /// The outcome of a playing.
  ///
  /// @param sha256 of all events of the recording that were played
  /// @param difference the first event that differs; absent if none does
  /// @param before events before it, oldest first
  /// @param gap whether events are missing: the recording was played up to there
  /// @param broken first event that reports a broken invariant, with its number; absent if none does
  record Report(String recording, long turns, long events, String sha256, @Nullable String difference,
      List<String> before, boolean gap, @Nullable String broken) {}

  /// @return the exit code of the command
  static int play(Path folder, Console console, boolean json) {
    Report report;
    try (RecordingReader events = RecordingReader.open(folder)) {
      Digested digested = new Digested(events);
      Player.Outcome outcome = new Player(digested, new PlayedTiers(), events.payloads()).play();
      if (outcome.turns() == 0) {
        throw new DataException("recording %s must begin with the opening of a tier (its beginning is missing)"
            .formatted(folder));
      }
      Difference difference = outcome.difference();
      report = new Report(folder.toString(), outcome.turns(), outcome.events(), digested.sha256(),
          difference == null ? null : difference.toString(),
          difference == null ? List.of() : difference.before().stream().map(RecordedEvent::toString).toList(),
          outcome.gap(), digested.broken);
    }
    if (json) {
      console.print(Json.MAPPER.writeValueAsString(report));
    } else {
      show(report, console);
    }
    return report.difference() == null ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private static void show(Report report, Console console) {
    console.print("recording %s: %,d turns, %,d events played".formatted(report.recording(), report.turns(),
        report.events()));
    if (report.gap()) {
      console.print("events are missing from there on, as the disk did not keep up when it was recorded");
    }
    if (report.broken() != null) {
      console.print("an invariant was broken at " + report.broken());
    }
    String difference = report.difference();
    if (difference == null) {
      console.print("equal to what was recorded; SHA-256 of its events " + report.sha256());
    } else {
      report.before().forEach(event -> console.print("  before: " + event));
      console.print("DIFFERENT: " + difference);
    }
  }

  /// Events that pass, and their digest.
  private static final class Digested implements Iterator<RecordedEvent> {
    private final Iterator<RecordedEvent> events;
    private final MessageDigest digest;
    private long count;
    private @Nullable String broken;

    Digested(Iterator<RecordedEvent> events) {
      this.events = events;
      try {
        this.digest = MessageDigest.getInstance("SHA-256");
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException(e); // every JDK has it
      }
    }

    @Override
    public boolean hasNext() {
      return events.hasNext();
    }

    @Override
    public RecordedEvent next() {
      RecordedEvent event = events.next();
      ByteBuffer bytes = ByteBuffer.allocate(EventCodec.mostBytes(event));
      EventCodec.write(event, bytes);
      digest.update(bytes.flip());
      if (event.kind() == Kind.BROKEN && broken == null) {
        broken = "event " + count + ": " + event.text();
      }
      count++;
      return event;
    }

    String sha256() {
      return HexFormat.of().formatHex(digest.digest());
    }
  }
}
