package io.penstock.storage.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.recording.Payloads;
import io.penstock.recording.Player;
import io.penstock.recording.Player.Outcome;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.Turns;
import io.penstock.storage.recording.RecordingWriter.Options;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Bytes of blocks in a recording.
@Timeout(60)
final class RecordedPayloadTest {
  private static final int ROUNDS = 400;

  @TempDir
  private Path folder;

  private void record(long seed, boolean payloads) {
    try (RecordingWriter writer = RecordingWriter.begin(folder, Options.defaults().withPayloads(payloads), "")) {
      BusyTier busy = new BusyTier(writer);
      busy.work(seed, ROUNDS);
      busy.close();
    }
  }

  private List<RecordedEvent> events(Kind kind) {
    List<RecordedEvent> events = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(folder)) {
      reader.forEachRemaining(events::add);
    }
    return events.stream().filter(event -> event.kind() == kind).toList();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void blocksArePlayedByteForByte(long seed) {
    record(seed, true);

    Outcome outcome = BusyTier.play(folder);

    assertThat(outcome.difference()).isNull();
    assertThat(outcome.gap()).isFalse();
    assertThat(outcome.turns()).isGreaterThan(ROUNDS);
    assertThat(events(Kind.PAYLOAD)).isNotEmpty();
  }

  @Test
  void otherBytes_areADifference() {
    record(4, true);
    try (RecordingReader reader = RecordingReader.open(folder)) {

      Outcome outcome = BusyTier.play(reader, BusyTier.SPACE, Payloads.ofKeys());

      assertThat(outcome.difference()).isNotNull();
      assertThat(outcome.difference().expected().kind()).isEqualTo(Kind.COMMIT);
    }
  }

  @Test
  void withoutPayloads_noBytesAreKept_andNoneAreCompared() {
    record(5, false);

    assertThat(BusyTier.play(folder).difference()).isNull();
    assertThat(events(Kind.PAYLOAD)).isEmpty();
    try (RecordingReader reader = RecordingReader.open(folder)) {
      assertThat(BusyTier.play(reader, BusyTier.SPACE, Payloads.ofKeys()).difference())
          .isNull();
    }
  }

  @Test
  void bytesThatTheStoreHadBefore_areKeptWhenTheyAreRead() {
    BusyTier before = new BusyTier(event -> {});
    for (long key = 0; key < 12; key++) {
      before.put(Blocks.keys(BusyTier.SPACE, key, key + 1), key);
    }
    before.close();
    MemoryStore reopened = before.disk().reopened();
    try (RecordingWriter writer = RecordingWriter.begin(folder, Options.defaults().withPayloads(true), "")) {
      BusyTier busy = new BusyTier(new Turns(System::nanoTime, writer), reopened);
      busy.work(6, ROUNDS);
      busy.close();
    }

    Outcome outcome = BusyTier.play(folder);

    assertThat(outcome.difference()).isNull();
    assertThat(events(Kind.PAYLOAD)).anyMatch(event -> event.number(3) == 1);
    assertThat(events(Kind.RECOVERED)).isNotEmpty();
  }

  @Test
  void aBlockLongerThanAPage_isKeptInPieces() {
    Options small = Options.defaults().withSegmentBytes(1 << 20).withMostBytes(64 << 20).withPayloads(true)
        .withWaitingBytes(1 << 20).withWhenFull(RecordingWriter.WhenFull.WAIT);
    try (RecordingWriter writer = RecordingWriter.begin(folder, small, "")) {
      BusyTier busy = new BusyTier(writer, BusyTier.LONG);
      busy.work(7, 40);
      busy.close();
      assertThat(writer.missed()).isZero();
    }

    assertThat(BusyTier.play(folder, BusyTier.LONG).difference()).isNull();
    assertThat(events(Kind.PAYLOAD)).anyMatch(event -> event.number(1) > 0);
  }
}
