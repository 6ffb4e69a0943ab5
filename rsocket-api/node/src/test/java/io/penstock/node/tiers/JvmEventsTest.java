package io.penstock.node.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.storage.recording.FlightRecorder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JvmEventsTest {
  @TempDir
  private Path folder;

  @Name("penstock.test.Mark")
  private static final class Mark extends Event {}

  @Test
  void whatHappenedLast_hasTheEventsOfTheJvmBeside_whileJfrRecords() throws IOException {
    Path without = folder.resolve("without");
    Path with = folder.resolve("with");
    save(without);
    try (Recording running = new Recording()) {
      running.enable(Mark.class);
      running.start();
      new Mark().commit();
      save(with);
      assertThat(running.getState()).hasToString("RUNNING");
    }

    assertThat(names(without)).hasSize(1).noneMatch(name -> name.endsWith(".jfr"));
    List<String> names = names(with);
    assertThat(names).hasSize(2);
    assertThat(names.get(1)).isEqualTo(names.get(0) + ".jfr");
    assertThat(RecordingFile.readAllEvents(with.resolve(names.get(1))))
        .anyMatch(event -> event.getEventType().getName().equals("penstock.test.Mark"));
  }

  private static void save(Path folder) {
    try (TierRecording recording = TierRecording.last(folder, FlightRecorder.Options.defaults(), "")) {
      recording.save("a test");
    }
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> inside = Files.list(folder)) {
      return inside.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }
}
