package io.penstock.node.sweep;

import io.penstock.block.EvictionPolicy;
import io.penstock.node.config.Policies;
import io.penstock.node.text.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The hits of each policy on several traces as text, and how far [EvictionPolicy#ADAPTIVE] is from the better of the
/// two policies that it chooses from. Each trace and capacity has a row, with a column for each policy. Policies that
/// are too many for 80 columns have a row each.
final class SweepMatrix {
  private static final List<EvictionPolicy> CHOICE = List.of(EvictionPolicy.LRU, EvictionPolicy.REUSE_AWARE);

  private static final int COLUMNS = 80;
  private static final String DIFFERENCE = "TO BETTER";

  private SweepMatrix() {}

  /// @param results of each trace, one policy after the other; all have the same policies and capacities
  static String of(Map<String, List<SweepResult>> results) {
    String wide = wide(results).toString();
    return wide.lines().allMatch(line -> line.length() <= COLUMNS) ? wide : stacked(results).toString();
  }

  private static TextTable wide(Map<String, List<SweepResult>> results) {
    List<EvictionPolicy> policies =
        results.values().iterator().next().stream().map(SweepResult::policy).distinct().toList();
    List<String> heads = new ArrayList<>(List.of("TRACE", "BLOCKS", "REFERENCES"));
    policies.forEach(policy -> heads.add(Policies.print(policy).toUpperCase(Locale.ROOT)));
    boolean compares = compares(policies);
    if (compares) {
      heads.add(DIFFERENCE);
    }
    TextTable table = new TextTable(heads.toArray(String[]::new));
    results.forEach((trace, all) -> all.stream().map(SweepResult::capacity).distinct()
        .forEach(capacity -> table.row(row(trace, capacity, all, compares))));
    return table;
  }

  /// A row for each policy. The difference stands beside the adaptive policy.
  private static TextTable stacked(Map<String, List<SweepResult>> results) {
    TextTable table = new TextTable("TRACE", "BLOCKS", "REFERENCES", "POLICY", "HITS", DIFFERENCE);
    results.forEach((trace, all) -> all.stream().map(SweepResult::capacity).distinct().forEach(capacity -> {
      List<SweepResult> same = all.stream().filter(result -> result.capacity() == capacity).toList();
      boolean compares = compares(same.stream().map(SweepResult::policy).toList());
      same.forEach(result -> table.row(trace, capacity, result.blockRefs(), Policies.print(result.policy()),
          result.hits(), compares && result.policy() == EvictionPolicy.ADAPTIVE ? difference(same) : ""));
    }));
    return table;
  }

  private static boolean compares(List<EvictionPolicy> policies) {
    return policies.contains(EvictionPolicy.ADAPTIVE) && policies.containsAll(CHOICE);
  }

  private static Object[] row(String trace, long capacity, List<SweepResult> all, boolean compares) {
    List<SweepResult> row = all.stream().filter(result -> result.capacity() == capacity).toList();
    List<Object> cells = new ArrayList<>(List.of(trace, capacity, row.getFirst().blockRefs()));
    row.forEach(result -> cells.add(result.hits()));
    if (compares) {
      cells.add(difference(row));
    }
    return cells.toArray();
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
