package io.penstock.wire.security;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashMap;
import java.util.Map;

/// Attempts to show credentials by source address: each counts until it succeeds, up to a number a minute. The
/// addresses that tried last are kept. Safe from any thread.
final class Attempts {
  /// Maximum number of attempts of one address that fail, or are not decided, in a minute.
  static final int MOST = 10;
  /// Number of attempts above which the address is refused even with a password that was right before: comparing that
  /// costs little, so that many guesses would be possible.
  static final int MOST_GUESSES = 1_000;
  private static final long PERIOD_MILLIS = 60_000;
  private static final int MOST_SOURCES = 4_096;

  private static final class Count {
    private long begun;
    private int attempts;
  }

  @GuardedBy("this") private final Map<Object, Count> counts = new LinkedHashMap<>(16, 0.75f, true);

  /// Counts an attempt; false if the address has none left.
  synchronized boolean begin(Object source, long nowMillis) {
    Count count = counts.computeIfAbsent(source, any -> new Count());
    if (count.attempts == 0 || nowMillis - count.begun >= PERIOD_MILLIS) {
      count.begun = nowMillis;
      count.attempts = 0;
    }
    if (counts.size() > MOST_SOURCES) {
      counts.remove(counts.keySet().iterator().next());
    }
    count.attempts = Math.min(count.attempts + 1, MOST_GUESSES);
    return count.attempts <= MOST;
  }

  /// Whether the address may show a password that was right before.
  synchronized boolean mayRepeat(Object source, long nowMillis) {
    Count count = counts.get(source);
    return count == null || count.attempts < MOST_GUESSES || nowMillis - count.begun >= PERIOD_MILLIS;
  }

  /// One attempt succeeded.
  synchronized void succeeded(Object source) {
    Count count = counts.get(source);
    if (count != null && count.attempts > 0) {
      count.attempts--;
    }
  }
}
