package io.penstock.examples.pressure;

import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import io.penstock.tier.TierStat;
import java.util.Locale;

/// A [PressureReport] for a reader.
final class PressureTable {
  private PressureTable() {}

  static String of(PressureReport report) {
    TextTable table = new TextTable("SAME BYTES", "GB/s")
        .row("bare files, all of them", rate(report.baseline().bareFiles()))
        .row("memory alone, which evicts", rate(report.baseline().memoryAlone()))
        .row("memory over the disk, all", rate(report.rates().accepted()))
        .row("memory over the disk, once memory was full", rate(report.rates().sustained()));
    StringBuilder text = new StringBuilder(table.toString()).append('\n');
    for (TierStat.Level level : report.levels()) {
      text.append("%s: %s, %s, %s%n".formatted(level.name(), Plural.of(level.blocks(), "block"),
          Plural.of(level.storedBlocks(), "copy", "copies"),
          Plural.of(level.hits(), "hit")));
    }
    return text
        .append("read meanwhile %s, afterwards %s%n".formatted(reads(report.meanwhile()), reads(report.afterwards())))
        .append("pressure: %s of %s, %s refused, %s lost, %s not there at once, %s leaked%n".formatted(
            Plural.of(report.blocks(), "block"),
            Sizes.exact(report.blockBytes()), Numbers.of(report.refused()), Numbers.of(report.lost()),
            Numbers.of(report.invisible()),
            Numbers.of(report.leakedBlocks())))
        .append(report.refusal() == null ? "" : "first refusal: " + report.refusal() + "\n").toString();
  }

  private static String reads(Reads reads) {
    return "%s: %s missing, %s wrong".formatted(Plural.of(reads.blocks(), "block"), Numbers.of(reads.missing()),
        Numbers.of(reads.wrong()));
  }

  private static String rate(double gigabytes) {
    return gigabytes == 0 ? "left out" : String.format(Locale.ROOT, "%.2f", gigabytes);
  }
}
