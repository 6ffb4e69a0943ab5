package io.penstock.wire.security;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Secrets that were shown and not right, or are being compared, by the user that they are to be of and the address
/// that they come from, and by the address alone: up to a number of each a minute. One that is shown again counts once.
/// The addresses that tried last are kept. Safe from any thread.
final class Attempts {
  /// Maximum number of secrets for one user from one address, in a minute.
  static final int MOST = 10;
  /// The same of one address, for all users: else it could have as many compared as it invents names.
  static final int MOST_OF_SOURCE = 100;
  /// Number of attempts above which they are refused even with a secret that is compared at no cost: so many guesses
  /// would be possible.
  static final int MOST_GUESSES = 1_000;
  private static final long PERIOD_MILLIS = 60_000;
  private static final int MOST_KEPT = 4_096;

  /// Who shows secrets.
  ///
  /// @param source equal for connections of one peer
  /// @param user empty for a secret without a name
  record Who(Object source, String user) {}

  private static final class Count {
    private long begun;
    private int attempts;
    /// Secrets that were compared and not right, or are being compared.
    private int compared;
    /// The same of one user.
    private final Set<Object> secrets = new HashSet<>(0);
  }

  @GuardedBy("this") private final Map<Who, Count> users = new LinkedHashMap<>(16, 0.75f, true);
  @GuardedBy("this") private final Map<Object, Count> sources = new LinkedHashMap<>(16, 0.75f, true);

  /// Counts an attempt; false if the user at that address, or the address, has none left.
  ///
  /// @param secret stands for what is shown
  synchronized boolean begin(Who who, Object secret, long nowMillis) {
    Count user = users.get(who);
    if (user != null && !isOver(user, nowMillis) && user.secrets.contains(secret)) {
      return true;
    }
    Count source = count(sources, who.source(), nowMillis);
    if (source.compared >= MOST_OF_SOURCE) {
      source.attempts = Math.min(source.attempts + 1, MOST_GUESSES);
      return false;
    }
    user = count(users, who, nowMillis);
    user.attempts = Math.min(user.attempts + 1, MOST_GUESSES);
    if (user.compared >= MOST) {
      return false;
    }
    user.secrets.add(secret);
    user.compared++;
    source.compared++;
    return true;
  }

  private static boolean isOver(Count count, long nowMillis) {
    return nowMillis - count.begun >= PERIOD_MILLIS;
  }

  private static <K> Count count(Map<K, Count> counts, K of, long nowMillis) {
    Count count = counts.computeIfAbsent(of, any -> new Count());
    if (count.compared == 0 || isOver(count, nowMillis)) {
      count.begun = nowMillis;
      count.attempts = 0;
      count.compared = 0;
      count.secrets.clear();
    }
    if (counts.size() > MOST_KEPT) {
      counts.remove(counts.keySet().iterator().next());
    }
    return count;
  }

  /// Whether a secret may be compared that costs nothing to compare.
  synchronized boolean mayRepeat(Who who, long nowMillis) {
    return mayRepeat(users.get(who), nowMillis) && mayRepeat(sources.get(who.source()), nowMillis);
  }

  private static boolean mayRepeat(@Nullable Count count, long nowMillis) {
    return count == null || count.attempts < MOST_GUESSES || isOver(count, nowMillis);
  }

  /// The secret was right.
  synchronized void succeeded(Who who, Object secret) {
    Count user = users.get(who);
    if (user != null && user.secrets.remove(secret)) {
      user.compared--;
      user.attempts = Math.max(0, user.attempts - 1);
      Count source = sources.get(who.source());
      if (source != null) {
        source.compared = Math.max(0, source.compared - 1);
      }
    }
  }
}
