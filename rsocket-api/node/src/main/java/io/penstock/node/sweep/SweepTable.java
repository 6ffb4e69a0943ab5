package io.penstock.node.sweep;

import io.penstock.node.config.Policies;
import io.penstock.node.text.TextTable;
import java.util.List;
import java.util.Locale;

/// The results of a sweep as text: one line for each policy and capacity.
final class SweepTable {
  private SweepTable() {}

  static TextTable of(List<SweepResult> results) {
    TextTable table = new TextTable("POLICY", "CAPACITY", "HITS", "HIT RATE", "PREFIX HITS", "PREFIX HIT RATE");
    results.forEach(result -> table.row(Policies.print(result.policy()), result.capacity(), result.hits(),
        percent(result.hitRate()), result.prefixHits(), percent(result.prefixHitRate())));
    return table;
  }

  static String percent(double share) {
    return String.format(Locale.ROOT, "%.2f %%", 100 * share);
  }
}
