package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import io.penstock.system.LiveClock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/// A recording in memory, for tests and simulations. Safe from any thread.
///
/// It keeps the first events up to its bound. If more happened, a last event of kind
/// [GAP][RecordedEvent.Kind#GAP] says how many are missing.
public final class MemoryRecording implements Script {
  /// Events that a recording keeps unless told otherwise.
  private static final int EVENTS = 1 << 16;

  private final int maxEvents;
  private final Turns turns;
  private final Recorder recorder;
  @GuardedBy("this") private final List<RecordedEvent> events = new ArrayList<>();
  @GuardedBy("this") private long missing;

  private MemoryRecording(LongSupplier nanos, int maxEvents) {
    Checks.positive("maxEvents", maxEvents);
    this.maxEvents = maxEvents;
    this.turns = new Turns(nanos, this);
    this.recorder = new Recorder(turns);
  }

  /// Begins a recording of at most 65,536 events on the clock of the process.
  public static MemoryRecording begin() {
    return begin(LiveClock.process()::nanos, EVENTS);
  }

  /// Begins a recording.
  ///
  /// @param nanos its clock, in nanoseconds from any origin
  /// @param maxEvents events that it keeps
  public static MemoryRecording begin(LongSupplier nanos, int maxEvents) {
    return new MemoryRecording(requireNonNull(nanos, "nanos"), maxEvents);
  }

  /// Records flows into this recording.
  public Recorder recorder() {
    return recorder;
  }

  /// The order of this recording, to record a tier into it ([RecordedTier#open]).
  public Turns turns() {
    return turns;
  }

  /// The events so far, oldest first, and a gap if some are missing: a copy.
  public synchronized List<RecordedEvent> events() {
    List<RecordedEvent> all = new ArrayList<>(events);
    if (missing > 0) {
      all.add(RecordedEvent.gap(missing));
    }
    return all;
  }

  @Override
  public synchronized void add(RecordedEvent event) {
    if (events.size() < maxEvents) {
      events.add(event);
    } else {
      missing++;
    }
  }
}
