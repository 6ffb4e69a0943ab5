package io.penstock.recording.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.block.BlockKey;
import io.penstock.recording.MemoryRecording;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.check.Rule.Checker;
import io.penstock.testkit.Blocks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Flux;

/// Each rule finds the first event that breaks it, and no event of a recording that keeps it.
final class RulesTest {
  private static final BlockKey KEY = Blocks.key(Blocks.smallSpace(), 1);
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private static RecordedEvent event(Kind kind, long flow, long... numbers) {
    return new RecordedEvent(kind, false, 0, 0, flow, numbers, List.of(), "");
  }

  private static RecordedEvent about(Kind kind, String text, long sequence) {
    return new RecordedEvent(kind, false, 0, 0, 0, new long[] {sequence}, List.of(KEY), text);
  }

  private static RecordedEvent flow(String name) {
    return new RecordedEvent(Kind.FLOW, true, 0, 0, -1, new long[] {0}, List.of(), name);
  }

  /// Number of the first event that breaks the rule; the number of events if only its end does, -1 if none does.
  private static int broken(String rule, RecordedEvent... events) {
    Checker checker = Rules.named(rule).begin();
    for (int i = 0; i < events.length; i++) {
      if (checker.broken(events[i]) != null) {
        return i;
      }
    }
    return checker.brokenAtEnd() == null ? -1 : events.length;
  }

  @Test
  void demand_findsTheElementThatWasNotRequested() {
    RecordedEvent next = event(Kind.FLOW_NEXT, -1, 12, 5);
    assertThat(broken("demand", flow("load"), event(Kind.FLOW_REQUEST, -1, 1), next, next)).isEqualTo(3);
    assertThat(broken("demand", flow("load"), event(Kind.FLOW_REQUEST, -1, 2), next, next)).isEqualTo(-1);
    assertThat(broken("demand", flow("load"), event(Kind.FLOW_REQUEST, -1, Long.MAX_VALUE),
        event(Kind.FLOW_REQUEST, -1, Long.MAX_VALUE), next, next)).isEqualTo(-1);
    assertThat(broken("demand", event(Kind.SLICES, 7, 3, 0), event(Kind.SLICE, 7, 0, 0, 0, 1, 0, 1))).isEqualTo(1);
    assertThat(broken("demand", event(Kind.LEASE, 7, 0), event(Kind.LEASED, 7))).isEqualTo(-1);
  }

  @Test
  void cancel_findsTheElementAfterIt() {
    RecordedEvent slice = event(Kind.SLICE, 7, 0, 0, 0, 1, 0, 1);
    assertThat(broken("cancel", event(Kind.SLICES, 7, 3, 0), slice, event(Kind.CANCEL, 7), slice)).isEqualTo(3);
    RecordedEvent next = event(Kind.FLOW_NEXT, -1, 12, 5);
    assertThat(broken("cancel", flow("load"), event(Kind.FLOW_CANCEL, -1), next)).isEqualTo(-1);
    assertThat(broken("cancel", flow("load"), event(Kind.FLOW_CANCEL, -1), next, next)).isEqualTo(3);
  }

  @Test
  void ends_areFoundThatAreMissing_orTwo() {
    assertThat(broken("stream-ends", flow("load"))).isEqualTo(1);
    assertThat(broken("stream-ends", flow("load"), event(Kind.FLOW_CANCEL, -1))).isEqualTo(-1);
    assertThat(broken("stream-ends", event(Kind.LEASE, 7, 0), event(Kind.LEASED, 7), event(Kind.ENDED, 7)))
        .isEqualTo(-1);
    assertThat(broken("end-once", flow("load"), event(Kind.FLOW_COMPLETE, -1), event(Kind.FLOW_ERROR, -1)))
        .isEqualTo(2);
    assertThat(broken("end-once", flow("load"), event(Kind.FLOW_COMPLETE, -1), event(Kind.FLOW_NEXT, -1, 0)))
        .isEqualTo(2);
  }

  @Test
  void layers_findsTheSliceThatIsMissing_orTwice() {
    RecordedEvent third = event(Kind.SLICE, 7, 0, 2, 0, 2, 0, 1);
    RecordedEvent second = event(Kind.SLICE, 7, 0, 1, 2, 2, 0, 1);
    RecordedEvent last = event(Kind.SLICE, 7, 0, 0, 4, 2, 0, 1);
    assertThat(broken("layers", third, second, last, third)).isEqualTo(-1);
    assertThat(broken("layers", third, last)).isEqualTo(1);
    assertThat(broken("layers", third, second, second)).isEqualTo(2);
    RecordedEvent upper = new RecordedEvent(Kind.FLOW_NEXT, false, 0, 0, -1, new long[] {1, 0, 1, 4, 2}, List.of(KEY),
        "");
    RecordedEvent lower = new RecordedEvent(Kind.FLOW_NEXT, false, 0, 0, -1, new long[] {1, 0, 0, 2, 2}, List.of(KEY),
        "");
    assertThat(broken("layers", upper, lower)).isEqualTo(1);
  }

  @Test
  void handles_findsTheOneThatIsOpen() {
    assertThat(broken("handles", event(Kind.RESERVED, 7, 0))).isEqualTo(1);
    assertThat(broken("handles", event(Kind.RESERVED, 7, 0), event(Kind.CLOSE, 7))).isEqualTo(-1);
    assertThat(broken("handles", event(Kind.LEASED, 8, 0), event(Kind.CLOSE, 7))).isEqualTo(2);
  }

  @Test
  void visible_findsTheEventThatDoesNotFollow() {
    RecordedEvent stored = about(Kind.STORED, "dram", 1);
    assertThat(broken("visible", stored, about(Kind.EVICTED, "dram", 2))).isEqualTo(-1);
    assertThat(broken("visible", stored, about(Kind.STORED, "dram", 2))).isEqualTo(1);
    assertThat(broken("visible", stored, about(Kind.EVICTED, "dram", 3))).isEqualTo(1);
    assertThat(broken("visible", stored, about(Kind.MOVED, "dram > ssd", 2), about(Kind.EVICTED, "dram", 3)))
        .isEqualTo(2);
    assertThat(broken("visible", about(Kind.REMOVED, "dram", 1))).isZero();
  }

  @Test
  void store_findsTheEndWithoutABeginning() {
    RecordedEvent put = event(Kind.STORE_PUT, 0, 0, 1);
    RecordedEvent done = event(Kind.STORE_DONE, 0, 0, 1);
    assertThat(broken("store", put, done)).isEqualTo(-1);
    assertThat(broken("store", put, done, done)).isEqualTo(2);
    assertThat(broken("store", done)).isZero();
  }

  @Test
  void invariant_findsWhatACheckReported() {
    MemoryRecording recording = MemoryRecording.begin();
    Flux.just(1).transform(recording.recorder().named("load")).blockLast(LIMIT);
    int before = recording.events().size();
    recording.recorder().broken("hits must agree");

    assertThat(broken("invariant", recording.events().toArray(RecordedEvent[]::new))).isEqualTo(before);
  }

  /// What follows a gap cannot be judged.
  @ParameterizedTest
  @ValueSource(strings = {"demand", "stream-ends", "handles", "visible"})
  void aGap_endsTheCheck(String rule) {
    assertThat(broken(rule, event(Kind.LEASED, 9), flow("load"), RecordedEvent.gap(3),
        event(Kind.FLOW_NEXT, -1, 0), about(Kind.EVICTED, "dram", 9))).isEqualTo(-1);
  }

  @Test
  void names_areThoseOfTheTable() {
    for (Rule rule : Rules.all()) {
      assertThat(Rules.named(rule.name()).name()).isEqualTo(rule.name());
    }
    assertThat(Rules.named("outstanding:load:16").name()).isEqualTo("outstanding:load:16");
    assertThatIllegalArgumentException().isThrownBy(() -> Rules.named("speed"))
        .withMessage("rule must be one of demand, cancel, end-once, stream-ends, layers, handles, visible, store,"
            + " invariant, outstanding:FLOW:N (was speed)");
    assertThatIllegalArgumentException().isThrownBy(() -> Rules.named("outstanding:load"))
        .withMessage("rule must be outstanding:FLOW:N with a number N (was outstanding:load)");
    assertThatIllegalArgumentException().isThrownBy(() -> Rules.named("outstanding:load:0"))
        .withMessageContaining("most must be > 0 (was 0)");
  }

  private static List<RecordedEvent> loaded(long demand) {
    MemoryRecording recording = MemoryRecording.begin(() -> 5, 1000);
    Flux.range(0, 6).transform(recording.recorder().named("load")).limitRate((int) demand).blockLast(LIMIT);
    return recording.events();
  }

  @Test
  void verifier_namesTheEventAndWhatWasAround() {
    RecordingVerifier.of(loaded(2)).requestsAtMost("load", 2).everyStreamEnds().everyHandleCloses().layersInOrder()
        .noElementAfterCancel("load").hasElements("load", 6).keepsAll().verify();

    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> RecordingVerifier.of(loaded(4)).requestsAtMost("load", 2).verify())
        .withMessage("""
            recording must keep rule outstanding:load:2 (was broken at event 1: elements of flow "load" that are \
            requested and to come must be <= 2 (was 4))
              event 0: flow tier 0 flow -1 [0] "load"
            > event 1: flow request tier 0 flow -1 [4]
              event 2: flow next tier 0 flow -1 [12, 0]
              event 3: flow next tier 0 flow -1 [12, 1]""");
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> RecordingVerifier.of(loaded(4)).hasElements("load", 7).verify())
        .withMessageContaining("(was broken at its end: flow \"load\" must have 7 elements (had 6))");
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> RecordingVerifier.of(loaded(4)).hasElements("load", 5).verify())
        .withMessageContaining("must have 5 elements (has one more)");
  }

  /// A statement that cannot be false proves nothing.
  @Test
  void verifier_refusesWhatProvesNothing() {
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> RecordingVerifier.of(loaded(4)).requestsAtMost("lode", 2))
        .withMessage("flow \"lode\" must be in the recording (has [load])");
    List<RecordedEvent> cut = new ArrayList<>(loaded(4).subList(0, 3));
    cut.add(RecordedEvent.gap(4));
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> RecordingVerifier.of(cut).keepsAll().verify())
        .withMessage("recording must be whole (4 events are missing from event 3 on)");
    assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> RecordingVerifier.of(cut).verify())
        .withMessage("a verifier must have rules (has none)");
  }

  /// A source that does not hear a cancel.
  @Test
  void verifier_findsTheElementsOfADeafSource() {
    MemoryRecording recording = MemoryRecording.begin();
    Flux<Integer> deaf = Flux.from(reader -> reader.onSubscribe(new Subscription() {
      @Override
      public void request(long n) {
        for (int i = 0; i < 3; i++) {
          reader.onNext(i);
        }
      }

      @Override
      public void cancel() {
        // Deaf
      }
    }));
    deaf.transform(recording.recorder().named("load")).take(1, false).onErrorComplete().subscribe();

    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> RecordingVerifier.of(recording.events()).noElementAfterCancel("load").verify())
        .withMessageContaining("must have <= 0 elements after its reader left (was 1)");
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> RecordingVerifier.of(recording.events()).noElementAfterCancel("load", 1).verify())
        .withMessageContaining("must have <= 1 elements after its reader left (was 2)");
  }
}
