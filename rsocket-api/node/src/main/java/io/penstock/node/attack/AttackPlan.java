package io.penstock.node.attack;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What is played, in which order, and for how long each. Waiting for the node to recover comes on top of it.
///
/// @param quiet time without an attack, first
/// @param phase time of each of `phases`
record AttackPlan(Duration quiet, Duration phase, List<AttackKind> phases) {
  private static final Duration SHORTEST = Duration.ofMillis(500);
  private static final Duration LONGEST = Duration.ofSeconds(30);
  private static final int QUIET_PART = 10;

  AttackPlan {
    phases = List.copyOf(phases);
  }

  /// Each of `kinds` alone, then mixes of them for the rest of the time; without mixes, the kinds again.
  ///
  /// @param kinds at least one
  static AttackPlan of(Duration total, List<AttackKind> kinds) {
    Duration quiet = within(total.dividedBy(QUIET_PART));
    Duration rest = total.minus(quiet);
    Duration phase = within(rest.dividedBy(kinds.size()));
    List<AttackKind> phases = new ArrayList<>(kinds);
    List<AttackKind> again = kinds.contains(AttackKind.MIX) ? List.of(AttackKind.MIX) : kinds;
    for (long more = rest.dividedBy(phase) - kinds.size(); more > 0; more--) {
      phases.add(again.get(phases.size() % again.size()));
    }
    return new AttackPlan(quiet, phase, phases);
  }

  private static Duration within(Duration time) {
    return time.compareTo(SHORTEST) < 0 ? SHORTEST : time.compareTo(LONGEST) > 0 ? LONGEST : time;
  }

  Duration total() {
    return quiet.plus(phase.multipliedBy(phases.size()));
  }
}
