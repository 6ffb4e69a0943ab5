package io.penstock.wire.security;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/// Counts the passwords that were shown and were wrong, or are being compared: for each user at each address, and for
/// each address. Both have a bound a minute. A password that is shown again counts once, and is compared once. The
/// addresses that tried last are kept. Safe from any thread.
final class Attempts {
  /// Maximum number of passwords for one user from one address, in a minute.
  static final int MOST = 10;
  /// Maximum number of passwords from one address, in a minute, whatever names they come with: each takes a good part
  /// of a second of a thread that all addresses share.
  static final int MOST_OF_SOURCE = 30;
  /// Number of attempts of one address, in a minute, above which the answer is not even yes to a password that was
  /// right before: its comparison costs nothing, so an address could try very many.
  static final int MOST_GUESSES = 1_000;
  private static final long PERIOD_MILLIS = 60_000;
  private static final int MOST_KEPT = 4_096;

  /// Who shows a password.
  ///
  /// @param source equal for connections of one peer
  /// @param user empty for a name that no user can have
  record Who(Object source, String user) {}

  /// What becomes of an attempt.
  enum Answer {
    COMPARE,
    /// The password was compared, and was wrong.
    WRONG,
    /// The user at that address, or the address, has no attempt left.
    REFUSE
  }

  private static final class Count {
    private long begun;
    /// All that an address showed.
    private int attempts;
    /// Number of the passwords of an address that were wrong or are being compared.
    private int compared;
    /// Passwords of a user at an address, and whether each was wrong; if not, it is being compared.
    private final Map<SecretMark, Boolean> passwords = new HashMap<>(0);

    Count(long begun) {
      this.begun = begun;
    }
  }

  @GuardedBy("this") private final Map<Who, Count> users = new LinkedHashMap<>(16, 0.75f, true);
  @GuardedBy("this") private final Map<Object, Count> sources = new LinkedHashMap<>(16, 0.75f, true);

  /// Counts an attempt.
  ///
  /// @param password stands for what is shown
  synchronized Answer begin(Who who, SecretMark password, long nowMillis) {
    Count known = users.get(who);
    Boolean isWrong = (known == null || isOver(known, nowMillis)) ? null : known.passwords.get(password);
    if (isWrong != null) {
      return isWrong ? Answer.WRONG : Answer.COMPARE;
    }
    Count source = count(sources, who.source(), nowMillis);
    source.attempts = Math.min(source.attempts + 1, MOST_GUESSES);
    if (source.compared >= MOST_OF_SOURCE) {
      return Answer.REFUSE;
    }
    Count user = count(users, who, nowMillis);
    if (user.passwords.size() >= MOST) {
      return Answer.REFUSE;
    }
    user.passwords.put(password, false);
    source.compared++;
    return Answer.COMPARE;
  }

  private static boolean isOver(Count count, long nowMillis) {
    return nowMillis - count.begun >= PERIOD_MILLIS;
  }

  private static <K> Count count(Map<K, Count> counts, K of, long nowMillis) {
    Count count = counts.computeIfAbsent(of, any -> new Count(nowMillis));
    if (isOver(count, nowMillis)) {
      count.begun = nowMillis;
      count.attempts = 0;
      count.compared = 0;
      count.passwords.clear();
    }
    if (counts.size() > MOST_KEPT) {
      counts.remove(counts.keySet().iterator().next());
    }
    return count;
  }

  /// Whether the answer to a password of that address that was right before is yes.
  synchronized boolean mayRepeat(Object source, long nowMillis) {
    Count count = sources.get(source);
    return count == null || count.attempts < MOST_GUESSES || isOver(count, nowMillis);
  }

  /// Whether the password was compared since it was first shown, and was wrong.
  synchronized boolean isWrong(Who who, SecretMark password) {
    Count user = users.get(who);
    return user != null && user.passwords.getOrDefault(password, false);
  }

  /// The password was wrong.
  synchronized void failed(Who who, SecretMark password) {
    Count user = users.get(who);
    if (user != null) {
      user.passwords.replace(password, true);
    }
  }

  /// The password was right.
  synchronized void succeeded(Who who, SecretMark password) {
    Count user = users.get(who);
    Count source = sources.get(who.source());
    if (user != null && user.passwords.remove(password) != null && source != null) {
      source.compared = Math.max(0, source.compared - 1);
      source.attempts = Math.max(0, source.attempts - 1);
    }
  }
}
