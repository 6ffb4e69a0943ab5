package io.penstock.storage.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.penstock.recording.Player.Outcome;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.storage.recording.FlightRecorder.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The last events in memory, saved as a recording.
@Timeout(60)
final class FlightRecorderTest {
  private static final Options SMALL = Options.defaults().withMostBytes(1 << 20);

  @TempDir
  private Path folder;

  private final AtomicLong nanos = new AtomicLong();

  private FlightRecorder recorder(Options options) {
    return new FlightRecorder(folder, options, "{\"levels\":2}", nanos::get);
  }

  private static List<RecordedEvent> events(Path recording) {
    List<RecordedEvent> events = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(recording)) {
      reader.forEachRemaining(events::add);
    }
    return events;
  }

  @Test
  void whileAllIsThere_whatIsSavedIsPlayed() {
    try (FlightRecorder recorder = recorder(Options.defaults()); BusyTier busy = new BusyTier(recorder)) {
      busy.work(1, 300);
      nanos.addAndGet(Duration.ofHours(1).toNanos());

      Path saved = recorder.save("a \"mismatch\"");

      RecordedEvent began = events(saved).getFirst();
      assertThat(began.kind()).isEqualTo(Kind.BEGAN);
      assertThat(began.text()).contains("\"reason\":\"a \\\"mismatch\\\"\"", "\"configuration\":{\"levels\":2}",
          "\"java\":\"" + System.getProperty("java.version") + '"');
      Outcome outcome = BusyTier.play(saved);
      assertThat(outcome.difference()).isNull();
      assertThat(outcome.gap()).isFalse();
      assertThat(outcome.turns()).isGreaterThan(300);

      busy.work(2, 300);
      assertThat(BusyTier.play(recorder.save("again")).turns()).isGreaterThan(outcome.turns() + 300);
    }
  }

  @Test
  void whenTheBeginningIsGone_theNewestIsSaved_andBeginsWithAGap() {
    try (FlightRecorder recorder = recorder(SMALL); BusyTier busy = new BusyTier(recorder)) {
      busy.work(3, 6000);
      assertThat(recorder.bytes()).isLessThanOrEqualTo(SMALL.mostBytes());

      List<RecordedEvent> events = events(recorder.save("SIGUSR2"));

      assertThat(events.get(0).kind()).isEqualTo(Kind.BEGAN);
      assertThat(events.get(1).kind()).isEqualTo(Kind.GAP);
      assertThat(events).hasSizeGreaterThan(5000);
      assertThat(recorder.bytes()).isLessThanOrEqualTo(SMALL.mostBytes());
      Path second = recorder.save("again");
      assertThat(events(second).subList(1, events.size())).isEqualTo(events.subList(1, events.size()));
      Outcome outcome = BusyTier.play(second);
      assertThat(outcome.turns()).isZero();
      assertThat(outcome.gap()).isTrue();
    }
  }

  @Test
  void whenTheBeginningIsGone_whatIsTooOldIsNotSaved() {
    try (FlightRecorder recorder = recorder(SMALL); BusyTier busy = new BusyTier(recorder)) {
      busy.work(4, 6000);
      int before = events(recorder.save("now")).size();
      nanos.addAndGet(Duration.ofSeconds(61).toNanos());
      busy.work(5, 20);

      List<RecordedEvent> later = events(recorder.save("later"));

      assertThat(later.size()).isBetween(60, before / 2);
      assertThat(later.get(1).kind()).isEqualTo(Kind.GAP);
    }
  }

  @Test
  void boundsAreChecked_andAClosedOneSavesNothing() {
    assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> SMALL.withMostBytes(1000))
        .withMessage("mostBytes must be >= 1048576 (was 1000)");
    assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> SMALL.withMostAge(Duration.ZERO))
        .withMessageContaining("mostAge must be");
    FlightRecorder recorder = FlightRecorder.begin(folder, SMALL, "");
    recorder.close();
    assertThatIllegalStateException().isThrownBy(() -> recorder.save("late"));
    assertThat(recorder.hasEnded()).isTrue();
  }
}
