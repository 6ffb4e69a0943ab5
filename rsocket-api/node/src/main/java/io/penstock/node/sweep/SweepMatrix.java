package io.penstock.node.sweep;

import io.penstock.block.EvictionPolicy;
import io.penstock.node.config.Policies;
import io.penstock.node.text.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The hits of each policy on several traces as text: a row for each trace and capacity, a column for each policy, and
/// how far [EvictionPolicy#ADAPTIVE] is from the better of the two policies that it chooses from.
final class SweepMatrix {
  private static final List<EvictionPolicy> CHOICE = List.of(EvictionPolicy.LRU, EvictionPolicy.REUSE_AWARE);

  private final Sweep sweep;
  private final TextTable table;
  private final boolean compares;

  private SweepMatrix(Sweep sweep) {
    this.sweep = sweep;
    this.compares = sweep.policies().contains(EvictionPolicy.ADAPTIVE) && sweep.policies().containsAll(CHOICE);
    List<String> heads = new ArrayList<>(List.of("TRACE", "CAPACITY", "REFERENCES"));
    sweep.policies().forEach(policy -> heads.add(Policies.print(policy).toUpperCase(Locale.ROOT)));
    if (compares) {
      heads.add("ADAPTIVE TO BETTER");
    }
    this.table = new TextTable(heads.toArray(String[]::new));
  }

  /// @param results of each trace, in the order of [Sweep#run]
  static TextTable of(Sweep sweep, Map<String, List<SweepResult>> results) {
    SweepMatrix matrix = new SweepMatrix(sweep);
    results.forEach(matrix::add);
    return matrix.table;
  }

  private void add(String trace, List<SweepResult> results) {
    for (int i = 0; i < sweep.capacities().size(); i++) {
      long capacity = sweep.capacities().get(i);
      List<SweepResult> row = results.stream().filter(result -> result.capacity() == capacity).toList();
      List<Object> cells = new ArrayList<>(List.of(trace, capacity, row.getFirst().blockRefs()));
      row.forEach(result -> cells.add(result.hits()));
      if (compares) {
        cells.add(difference(row));
      }
      table.row(cells.toArray());
    }
  }

  /// Hits of the adaptive policy against the most of those that it chooses from.
  private static String difference(List<SweepResult> row) {
    long most = row.stream().filter(result -> CHOICE.contains(result.policy())).mapToLong(SweepResult::hits).max()
        .orElse(0);
    long hits = row.stream().filter(result -> result.policy() == EvictionPolicy.ADAPTIVE)
        .mapToLong(SweepResult::hits).sum();
    return most == 0 ? "" : String.format(Locale.ROOT, "%+.2f %%", 100.0 * (hits - most) / most);
  }
}
