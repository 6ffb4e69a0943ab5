package io.penstock.lab.attack;

import io.penstock.node.text.Numbers;
import io.penstock.node.text.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Bounds on the effect of an attack, and the bounds that it broke.
final class Bounds {
  /// Maximum ratio of the slowest call to the slowest one of the quiet phase, unless the call is quick in any case.
  private static final int TIMES_QUIET = 5;
  private static final double QUICK_MILLIS = 50;
  private static final double LEAST_KEPT = 0.9;
  private static final long MEMORY_BESIDE_BUDGET = 256L << 20;

  private final List<String> broken = new ArrayList<>();
  private boolean slowOnly = true;

  /// Whether nothing broke but bounds on the slowest call.
  boolean isSlowOnly() {
    return slowOnly && !broken.isEmpty();
  }

  /// The bounds that broke, in words.
  List<String> broken() {
    return List.copyOf(broken);
  }

  private void require(boolean holds, String form, Object... values) {
    if (!holds) {
      broke(String.format(Locale.ROOT, form, values));
    }
  }

  private void broke(String words) {
    broken.add(words);
    slowOnly = false;
  }

  Bounds slowest(String what, Latency now, Latency quiet) {
    double most = Math.max(QUICK_MILLIS, TIMES_QUIET * quiet.slowest());
    if (now.slowest() > most) {
      broken.add(String.format(Locale.ROOT, "slowest %s must be <= %.1f ms (was %.1f ms)", what, most, now.slowest()));
    }
    return this;
  }

  Bounds kept(long before, long after) {
    require(after >= LEAST_KEPT * before, "visible blocks must be >= %.1f of those before (was %s of %s)", LEAST_KEPT,
        Numbers.of(after), Numbers.of(before));
    return this;
  }

  Bounds calls(Tally tally) {
    require(tally.wrongBlocks() == 0, "blocks with wrong bytes must be 0 (was %s)", Numbers.of(tally.wrongBlocks()));
    require(tally.failedCalls() == 0, "failed calls of a good client must be 0 (was %s: %s)",
        Numbers.of(tally.failedCalls()), Numbers.of(tally.errors()));
    return this;
  }

  Bounds strangers(Map<String, Long> breaches) {
    breaches.forEach((what, times) -> require(times == 0, "strangers must not get %s (was %s times)", what,
        Numbers.of(times)));
    return this;
  }

  /// @param after null if the node did not answer
  Bounds letGo(@Nullable NodeFigures after, NodeFigures quiet, double seconds) {
    if (after == null) {
      broke(String.format(Locale.ROOT, "node must answer after the attack (was silent for %.0f s)", seconds));
    } else {
      require(after.isAsIdleAs(quiet), "node must hold as little as before %.0f s after the attack (was %s)", seconds,
          said(after));
    }
    return this;
  }

  private static String said(NodeFigures node) {
    return Sizes.human(node.inFlightBytes()) + " in flight, " + Sizes.human(node.besideBytes())
        + " beside visible blocks"
        + (node.streams() == null ? "" : ", " + node.streams() + " streams")
        + (node.connections() == null ? "" : ", " + node.connections() + " connections");
  }

  /// Checks memory. A heap does not shrink, so growth by an earlier attack does not count against this one.
  ///
  /// @param peak null if unknown; so `quiet`
  /// @param before maximum seen before this attack
  Bounds memory(@Nullable Long peak, @Nullable Long quiet, long before, long budgetBytes) {
    if (peak != null && quiet != null) {
      long most = quiet + budgetBytes + MEMORY_BESIDE_BUDGET;
      require(peak <= Math.max(most, before), "resident memory must be <= %s (was %s; %s when quiet)",
          Sizes.human(most),
          Sizes.human(peak), Sizes.human(quiet));
    }
    return this;
  }
}
