package io.penstock.storage.disk;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntPredicate;

/// Segments that compaction could not read. Each waits twice as long after each failure, or until the disk is healthy
/// again. Used by the thread that appends.
public final class UnreadableSegments {
  static final long FIRST_MILLIS = 1_000;
  public static final long LAST_MILLIS = 600_000;

  private record Pause(long until, long millis) {}

  private final JournalClock clock;
  private final Map<Integer, Pause> pauses = new HashMap<>();

  public UnreadableSegments(JournalClock clock) {
    this.clock = clock;
  }

  public void failed(int segment) {
    long now = clock.millis();
    Pause last = pauses.get(segment);
    long millis = last == null ? FIRST_MILLIS : Math.min(2 * last.millis(), LAST_MILLIS);
    pauses.put(segment, new Pause(now + millis, millis));
  }

  /// Forgets a segment that was read.
  public void forget(int segment) {
    pauses.remove(segment);
  }

  /// Lets all be tried at once. After another failure a segment waits longer still.
  public void tryAll() {
    pauses.replaceAll((segment, pause) -> new Pause(clock.millis(), pause.millis()));
  }

  public boolean mayTry(int segment) {
    Pause pause = pauses.get(segment);
    return pause == null || clock.millis() >= pause.until();
  }

  /// Whether there are any that still `exist`.
  public boolean isAny(IntPredicate exist) {
    pauses.keySet().removeIf(segment -> !exist.test(segment));
    return !pauses.isEmpty();
  }

  /// Milliseconds until the next may be tried; 0 if none has to wait.
  public long waitMillis() {
    return pauses.values().stream().mapToLong(pause -> pause.until() - clock.millis()).filter(wait -> wait > 0).min()
        .orElse(0);
  }
}
