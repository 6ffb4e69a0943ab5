package io.penstock.lab.attack;

import java.util.List;

/// What a run of attacks found.
///
/// @param held whether the run ended and no bound broke
/// @param seed from which everything was drawn
/// @param keptBlocks that the good client kept in the node
/// @param quiet what the good client saw, and the node held, without an attack
record AttackReport(boolean held, String node, long seed, long keptBlocks, Quiet quiet, List<PhaseReport> phases) {
  AttackReport {
    phases = List.copyOf(phases);
  }

  /// @param budgetBytes that the node may have in flight
  record Quiet(Latency puts, Latency gets, Latency connects, NodeFigures node, long budgetBytes) {}
}
