package io.penstock.lab.attack;

import java.util.List;

/// Result of a run of attacks.
///
/// @param held whether the run ended and no bound broke
/// @param seed of all random choices
/// @param keptBlocks that the good client kept in the node
/// @param quiet figures of the good client and of the node without an attack
record AttackReport(boolean held, String node, long seed, long keptBlocks, Quiet quiet, List<PhaseReport> phases) {
  AttackReport {
    phases = List.copyOf(phases);
  }

  /// @param budgetBytes that the node may have in flight
  record Quiet(Latency puts, Latency gets, Latency connects, NodeFigures node, long budgetBytes) {}
}
