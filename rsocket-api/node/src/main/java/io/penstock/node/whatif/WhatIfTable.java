package io.penstock.node.whatif;

import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import io.penstock.node.whatif.WhatIfReport.Change;
import io.penstock.node.whatif.WhatIfReport.Space;
import io.penstock.node.whatif.WhatIfReport.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The report of `penstock whatif` for people.
final class WhatIfTable {
  private final Space space;
  /// Whether there are several levels: then the hit rate up to a level differs from that of the whole tier.
  private final boolean hasLevels;
  private final boolean isExact;

  WhatIfTable(Space space) {
    this.space = space;
    this.hasLevels = space.steps().stream().map(Step::level).distinct().count() > 1;
    this.isExact = space.workingSetBlocks() != null;
  }

  @Override
  public String toString() {
    List<String> heads = new ArrayList<>(List.of("LEVEL", "STEP", "CAPACITY"));
    if (hasLevels) {
      heads.addAll(List.of("UP TO THE LEVEL", "GAIN"));
    }
    heads.addAll(List.of(hasLevels ? "ALL LEVELS" : "HIT RATE", "GAIN"));
    if (isExact) {
      heads.add("EXACT");
    }
    TextTable table = new TextTable(heads.toArray(String[]::new));
    space.steps().forEach(step -> table.row(row(step)));
    return summary() + "\n\n" + table;
  }

  private String summary() {
    Long distinct = space.workingSetBlocks();
    return TextTable.wrapped("%s: %s%s. LRU, from %s (%s). ± is a 95 %% interval.".formatted(
        space.name(),
        Plural.of(space.references(), "reference"),
        distinct == null ? "" : " to " + blocks(distinct) + " of working set",
        Plural.of(space.samples(), "sampled key"), share(space.rate())), 0);
  }

  /// Part of all keys that is sampled.
  static String share(double rate) {
    return rate == 1 ? "all" : String.format(Locale.ROOT, rate < 0.01 ? "%.2f %%" : "%.1f %%", 100 * rate);
  }

  private Object[] row(Step step) {
    List<Object> row = new ArrayList<>();
    row.add(step.level());
    row.add(step.addBlocks() == 0 ? "now" : "+" + blocks(step.addBlocks()));
    row.add(step.capacityBlocks() == Long.MAX_VALUE ? "unbounded" : blocks(step.capacityBlocks()));
    if (hasLevels) {
      row.add(rate(step, step.upToLevel()));
      row.add(gain(step, step.upToLevel()));
    }
    row.add(rate(step, step.tier()));
    row.add(gain(step, step.tier()));
    if (isExact) {
      row.add(exact(step.exactHitRate()));
    }
    return row.toArray();
  }

  private static String rate(Step step, Change change) {
    return bound(step) + String.format(Locale.ROOT, "%.1f ± %.1f %%", 100 * change.hitRate(), 100 * change.plusMinus());
  }

  private static String gain(Step step, Change change) {
    return step.addBlocks() == 0
        ? ""
        : bound(step) + String.format(Locale.ROOT, "%+.1f ± %.1f points", 100 * change.gain(),
            100 * change.gainPlusMinus());
  }

  /// Beyond the curve, a hit rate may be higher.
  private static String bound(Step step) {
    return step.beyond() ? ">= " : "";
  }

  private static String exact(@Nullable Double hitRate) {
    return hitRate == null ? "" : String.format(Locale.ROOT, "%.1f %%", 100 * hitRate);
  }

  private String blocks(long blocks) {
    Long bytes = space.blockBytes();
    return bytes == null ? Plural.of(blocks, "block") : Sizes.human((double) blocks * bytes);
  }

}
