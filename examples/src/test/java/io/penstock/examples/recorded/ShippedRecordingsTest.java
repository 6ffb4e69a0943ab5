package io.penstock.examples.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.play.RunDigest;
import io.penstock.node.tiers.PlayedTiers;
import io.penstock.recording.Payloads;
import io.penstock.recording.Player;
import io.penstock.recording.Player.Outcome;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.check.Rule;
import io.penstock.recording.check.Rule.Checker;
import io.penstock.recording.check.Rules;
import io.penstock.storage.recording.RecordingReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The recordings that the examples ship, one file each, play again, with the hash that is written beside them.
@Timeout(60)
final class ShippedRecordingsTest {
  private static final Path FOLDER = Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("recordings");
  private static final long MOST_BYTES = 100 << 10;

  /// SHA-256 of each file as `penstock replay` prints it, by its name.
  private static Map<String, String> expected() throws IOException {
    Map<String, String> expected = new TreeMap<>();
    for (String line : Files.readAllLines(FOLDER.resolve("SHA256"))) {
      String[] words = line.split(" {2}");
      expected.put(words[1], words[0]);
    }
    return expected;
  }

  private static List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".pkr")).sorted().toList();
    }
  }

  private static List<RecordedEvent> read(String name) {
    List<RecordedEvent> events = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(FOLDER.resolve(name))) {
      reader.forEachRemaining(events::add);
    }
    return events;
  }

  @Test
  void eachFile_hasAHash_andEachHashAFile() throws IOException {
    assertThat(names()).isNotEmpty().containsExactlyElementsOf(expected().keySet());
  }

  @ParameterizedTest
  @MethodSource("names")
  void aShippedRecording_isPlayed_toItsHash(String name) throws IOException {
    List<RecordedEvent> events = read(name);

    Outcome outcome;
    try (Player player = new Player(events.iterator(), new PlayedTiers(), Payloads.ofKeys())) {
      outcome = player.play();
    }

    assertThat(outcome.difference()).as("%s", outcome.difference()).isNull();
    assertThat(outcome.events()).isEqualTo(events.size());
    assertThat(RunDigest.of(events.iterator())).isEqualTo(expected().get(name));
    assertThat(Files.size(FOLDER.resolve(name))).isLessThanOrEqualTo(MOST_BYTES);
    for (Rule rule : Rules.all()) {
      Checker checker = rule.begin();
      assertThat(events).as(rule.name()).allSatisfy(event -> assertThat(checker.broken(event)).isNull());
    }
  }

  /// The story of this package has a clock that counts, so a run is its recording.
  @Test
  void recorded_runsAsItsRecording() {
    assertThat(Recorded.run().events()).isEqualTo(read("recorded.pkr"));
  }
}
