package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.storage.recording.RecordingReader;
import io.penstock.storage.recording.RecordingWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A replay over sockets and three levels, recorded, and played again on one thread.
@Timeout(120)
final class RecordedReplayTest {
  @TempDir
  private Path folder;

  @Test
  void whatHappenedInTheNode_happensAgain_andAChangeIsNamed() {
    Path recording = folder.resolve("incident");
    CommandLineRun recorded = CommandLineRun.of("replay", "--limit", "40", "--hbm", "30 blocks", "--dram", "50 blocks",
        "--ssd", "80 blocks", "--record", recording.toString());
    assertThat(recorded.exitCode()).as(recorded.err()).isZero();

    CommandLineRun played = CommandLineRun.of("replay", recording.toString());

    assertThat(played.exitCode()).as(played.out()).isZero();
    assertThat(played.out()).contains("equal to what was recorded; SHA-256 ");
    assertThat(CommandLineRun.of("replay", recording.toString()).out()).isEqualTo(played.out());

    Path changed = withoutTheThousandth(recording);
    CommandLineRun differs = CommandLineRun.of("replay", changed.toString());

    assertThat(differs.exitCode()).isEqualTo(1);
    assertThat(differs.out()).contains("DIFFERENT: event ");
  }

  @Test
  void recordingOfAnotherFormat_isDataThatCannotBeRead() throws IOException {
    Files.writeString(folder.resolve("recording"), "penstock recording, format 2\n");

    CommandLineRun played = CommandLineRun.of("replay", folder.toString());

    assertThat(played.exitCode()).isEqualTo(65);
    assertThat(played.err()).contains("penstock recording, format 2");
  }

  /// A copy of a recording without one of its evictions, or of its windows.
  private Path withoutTheThousandth(Path recording) {
    List<RecordedEvent> events = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(recording)) {
      reader.forEachRemaining(events::add);
    }
    int left = 1000;
    while (events.get(left).kind() != Kind.MOVED) {
      left++;
    }
    events.remove(left);
    Path changed = folder.resolve("changed");
    try (RecordingWriter writer = RecordingWriter.open(changed, RecordingWriter.Options.defaults())) {
      events.forEach(writer::add);
    }
    return changed;
  }
}
