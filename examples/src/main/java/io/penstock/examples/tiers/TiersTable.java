package io.penstock.examples.tiers;

import io.penstock.examples.source.Reading;
import io.penstock.examples.tiers.TiersReport.Step;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.TierStat;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A [TiersReport] for a reader.
final class TiersTable {
  private static final int LAST_LAYER = Tiers.SPACE.layout().layers() - 1;

  private TiersTable() {}

  static List<String> of(TiersReport report) {
    List<String> lines = new ArrayList<>();
    List<Step> steps = report.first().steps();
    lines.add(String.format(Locale.ROOT, "%-20s", "blocks of " + Sizes.exact(report.blockBytes()))
        + titles(steps.getFirst().levels()));
    for (int i = 0; i < steps.size(); i++) {
      lines.add(row(steps.get(i), i == 0 ? null : steps.get(i - 1)));
    }
    lines.add(row(report.second().opened(), null));
    lines.add("");
    lines.add(arrival("first " + Tiers.WINDOW_BLOCKS + ", from disk", report.first().fromDisk()));
    lines.add(arrival("the same again", report.first().again()));
    lines.add("");
    lines.add("on disk before " + before(report) + ", receipts " + Numbers.of(report.first().receipts())
        + ", after reopening "
        + report.second().recovered() + " of " + report.blocks());
    lines.add(moral(report));
    lines.add(String.format(Locale.ROOT, "tiers: %s put, %s read, %s wrong, %s leaked",
        Plural.of(report.blocks(), "block"), Numbers.of(report.blocksRead()),
        Numbers.of(report.wrongSpans()), Numbers.of(report.leakedBlocks())));
    return lines;
  }

  private static String before(TiersReport report) {
    long besides = report.first().besides();
    return report.first().found() + " of " + report.blocks()
        + (besides == 0 ? "" : " and " + besides + " of other runs");
  }

  /// The part that the mode plays in the result.
  private static String moral(TiersReport report) {
    if (report.mode() == StackOptions.Mode.WRITE_THROUGH) {
      return "written through: each block is on the disk before it is visible, "
          + (report.gone() == 0
              ? "so all of them are there again"
              : "but the engine forgets, and its receipts do not promise more");
    }
    if (report.gone() == report.blocks()) {
      return "exclusive: a block is on one level, and none of them was on a disk that remembers";
    }
    return "exclusive: a block is on one level, " + (report.gone() == 0
        ? "and all of them had been demoted to the disk, in this run or before"
        : "and the " + report.gone() + " that were in memory alone are gone; --write-through would have kept them");
  }

  private static String titles(List<TierStat.Level> levels) {
    StringBuilder line = new StringBuilder();
    levels
        .forEach(level -> line.append(String.format(Locale.ROOT, "%16s", level.name() + " " + level.capacityBlocks())));
    return line.toString();
  }

  /// Stored blocks of each level, and the hits of this step there.
  private static String row(Step step, @Nullable Step before) {
    StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%-20s", step.did()));
    for (int i = 0; i < step.levels().size(); i++) {
      TierStat.Level level = step.levels().get(i);
      long hits = level.hits() - (before == null ? 0 : before.levels().get(i).hits());
      line.append(String.format(Locale.ROOT, "%6d %9s", level.storedBlocks(),
          hits == 0 ? "" : "+" + hits + (hits == 1 ? " hit " : " hits")));
    }
    return line.toString().stripTrailing();
  }

  private static String arrival(String what, Reading reading) {
    return String.format(Locale.ROOT, "%-22s layer 0 after %.1f ms, layer %d after %.1f ms, in %d slices", what + ":",
        reading.firstMillis(), LAST_LAYER, reading.lastMillis(), reading.slices());
  }
}
