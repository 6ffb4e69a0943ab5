package io.penstock.storage;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntPredicate;

/// Segments out of which blocks were to be moved, and that could not be read: each is tried again after a while, which
/// doubles with every failure, or as soon as the disk is healthy again. Used by the thread that appends.
final class UnreadableSegments {
  static final long FIRST_MILLIS = 1_000;
  static final long LAST_MILLIS = 600_000;

  private record Pause(long until, long millis) {}

  private final JournalClock clock;
  private final Map<Integer, Pause> pauses = new HashMap<>();

  UnreadableSegments(JournalClock clock) {
    this.clock = clock;
  }

  void failed(int segment) {
    long now = clock.millis();
    Pause last = pauses.get(segment);
    long millis = last == null ? FIRST_MILLIS : Math.min(2 * last.millis(), LAST_MILLIS);
    pauses.put(segment, new Pause(now + millis, millis));
  }

  /// It was read, or is gone.
  void forget(int segment) {
    pauses.remove(segment);
  }

  /// The disk is healthy again: each may be tried at once, and waits longer if it fails still.
  void tryAll() {
    pauses.replaceAll((segment, pause) -> new Pause(clock.millis(), pause.millis()));
  }

  boolean mayTry(int segment) {
    Pause pause = pauses.get(segment);
    return pause == null || clock.millis() >= pause.until();
  }

  /// Whether there are any, of those that `exist`.
  boolean isAny(IntPredicate exist) {
    pauses.keySet().removeIf(segment -> !exist.test(segment));
    return !pauses.isEmpty();
  }

  /// Milliseconds until the next may be tried, if any has to wait; else 0.
  long waitMillis() {
    return pauses.values().stream().mapToLong(pause -> pause.until() - clock.millis()).filter(wait -> wait > 0).min()
        .orElse(0);
  }
}
