package io.penstock.lab.attack;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Effect of one attack on others.
///
/// @param seed that plays this attack again
/// @param held whether no bound broke
/// @param puts of the good client
/// @param putsTimesQuiet ratio of the slowest put to the slowest of the quiet phase; so `getsTimesQuiet`
/// @param gets of the good client
/// @param connects of newcomers
/// @param visibleBefore blocks of the good client that the node had before
/// @param visibleAfter blocks of them that it still had afterwards
/// @param failedCalls of the good client
/// @param errors their kinds and counts
/// @param wrongBlocks that were read with wrong bytes
/// @param peakResidentBytes maximum memory seen; null if unknown
/// @param letGoSeconds from the end of the attack until the node was as idle as before, or the wait ended
/// @param after figures of the node then; null if it did not answer
/// @param broken bounds, in words
/// @param slowAtFirst bounds on the slowest call that broke when the attack was first played; it was then played again,
///     after a quiet phase of its own, and the rest of this report is of that
record PhaseReport(String kind, long seed, boolean held, double seconds, Latency puts, double putsTimesQuiet,
    Latency gets,
    double getsTimesQuiet, Latency connects, long visibleBefore, long visibleAfter, long failedCalls,
    Map<String, Long> errors, long wrongBlocks, @Nullable Long peakResidentBytes, double letGoSeconds,
    @Nullable NodeFigures after, List<String> broken, List<String> slowAtFirst) {
  PhaseReport {
    broken = List.copyOf(broken);
    slowAtFirst = List.copyOf(slowAtFirst);
  }

  /// Part of the blocks that the node kept.
  double kept() {
    return visibleBefore == 0 ? 1 : (double) visibleAfter / visibleBefore;
  }
}
