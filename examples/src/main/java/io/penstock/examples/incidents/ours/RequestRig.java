package io.penstock.examples.incidents.ours;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.examples.incidents.script.Words;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/// The request tables of prefill and decode ranks on the clock of the schedule.
abstract class RequestRig implements Subject {
  static final Incarnation PREFILL = new RankId("prefill", 0).since(1);
  static final RankId READER_0 = new RankId("decode", 0);
  static final RankId READER_1 = new RankId("decode", 1);

  final SimulatedTime time = new SimulatedTime(1);
  private Consumer<RecordedEvent> sink = event -> {};
  private long inputNanos;

  /// Takes an input at its time.
  abstract void take(RecordedEvent input);

  @Override
  public final void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    sink = facts;
    inputNanos = input.at();
    time.advance(Duration.ofNanos(Math.max(0, input.at() - time.nanos())));
    take(input);
    sink = event -> {};
  }

  /// Records a fact of the input, or of a timer that ran before it.
  void fact(Kind kind, long flow, String text) {
    sink.accept(time.nanos() < inputNanos
        ? new RecordedEvent(kind, true, time.nanos(), 0, flow, new long[0], List.of(), text)
        : Words.fact(kind, flow, text));
  }
}
