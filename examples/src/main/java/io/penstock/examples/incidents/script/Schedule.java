package io.penstock.examples.incidents.script;

import io.penstock.block.BlockKey;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.ArrayList;
import java.util.List;

/// The inputs of an incident, with their times. Each `at` sets the time of the inputs that follow.
public final class Schedule {
  private final List<RecordedEvent> inputs = new ArrayList<>();
  private long millis;

  /// The time of the next inputs.
  public Schedule at(long time) {
    if (time < millis) {
      throw new IllegalArgumentException("time must be >= " + millis + " ms (was " + time + ")");
    }
    millis = time;
    return this;
  }

  public Schedule input(Kind kind, long flow, String text, List<BlockKey> keys, long... numbers) {
    inputs.add(Words.input(millis, kind, flow, text, keys, numbers));
    return this;
  }

  public Schedule input(Kind kind, long flow, String text, long... numbers) {
    return input(kind, flow, text, List.of(), numbers);
  }

  public List<RecordedEvent> inputs() {
    return List.copyOf(inputs);
  }
}
