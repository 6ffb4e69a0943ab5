package io.penstock.lab.attack;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Phases of a run, their order, and their length. The time in which the node recovers is not included.
///
/// @param phase time of each of `phases`, and of the quiet phase before them: slowest calls are compared
record AttackPlan(Duration phase, List<AttackKind> phases) {
  private static final Duration SHORTEST = Duration.ofMillis(500);
  private static final Duration LONGEST = Duration.ofSeconds(20);

  AttackPlan {
    phases = List.copyOf(phases);
  }

  /// A plan with each of `kinds` alone, then mixes of them for the rest of the time; without mixes, the kinds again.
  ///
  /// @param kinds at least one
  static AttackPlan of(Duration total, List<AttackKind> kinds) {
    Duration phase = within(total.dividedBy(kinds.size() + 1L));
    List<AttackKind> phases = new ArrayList<>(kinds);
    List<AttackKind> again = kinds.contains(AttackKind.MIX) ? List.of(AttackKind.MIX) : kinds;
    for (long more = total.dividedBy(phase) - kinds.size() - 1; more > 0; more--) {
      phases.add(again.get(phases.size() % again.size()));
    }
    return new AttackPlan(phase, phases);
  }

  private static Duration within(Duration time) {
    return time.compareTo(SHORTEST) < 0 ? SHORTEST : time.compareTo(LONGEST) > 0 ? LONGEST : time;
  }

  Duration total() {
    return phase.multipliedBy(phases.size() + 1L);
  }
}
