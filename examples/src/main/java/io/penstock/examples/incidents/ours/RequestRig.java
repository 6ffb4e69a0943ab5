package io.penstock.examples.incidents.ours;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.function.Consumer;
import io.penstock.examples.incidents.script.Words;

/// The request tables of prefill and decode ranks on the clock of the schedule.
abstract class RequestRig implements Subject {
  static final Incarnation PREFILL = new RankId("prefill", 0).since(1);
  static final RankId READER_0 = new RankId("decode", 0);
  static final RankId READER_1 = new RankId("decode", 1);

  final SimulatedTime time = new SimulatedTime(1);
  private Consumer<RecordedEvent> sink = event -> {};

  /// Takes an input at its time.
  abstract void take(RecordedEvent input);

  @Override
  public final void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    sink = facts;
    time.advance(Duration.ofNanos(Math.max(0, input.at() - time.nanos())));
    take(input);
    sink = event -> {};
  }

  /// Records a fact.
  void fact(Kind kind, long flow, String text) {
    sink.accept(Words.fact(kind, flow, text));
  }
}
