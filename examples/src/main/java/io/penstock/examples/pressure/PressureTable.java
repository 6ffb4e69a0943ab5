package io.penstock.examples.pressure;

import io.penstock.node.cli.TextTable;
import io.penstock.node.config.Sizes;
import io.penstock.tier.LevelStat;
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
    for (LevelStat level : report.levels()) {
      text.append("%s: %d blocks, %d copies, %d hits%n".formatted(level.name(), level.blocks(), level.resting(), level.hits()));
    }
    return text.append("read meanwhile %s, afterwards %s%n".formatted(reads(report.meanwhile()), reads(report.afterwards())))
        .append("pressure: %d blocks of %s, %d refused, %d lost, %d not there at once, %d leaked%n".formatted(report.blocks(),
            Sizes.exact(report.blockBytes()), report.refused(), report.lost(), report.invisible(), report.leakedBlocks()))
        .append(report.refusal() == null ? "" : "first refusal: " + report.refusal() + "\n").toString();
  }

  private static String reads(Reads reads) {
    return "%d blocks: %d missing, %d wrong".formatted(reads.blocks(), reads.missing(), reads.wrong());
  }

  private static String rate(double gigabytes) {
    return gigabytes == 0 ? "left out" : String.format(Locale.ROOT, "%.2f", gigabytes);
  }
}
