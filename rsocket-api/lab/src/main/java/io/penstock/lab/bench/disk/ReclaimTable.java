package io.penstock.lab.bench.disk;

import io.penstock.node.text.TextTable;
import java.util.Locale;

/// A [ReclaimReport] for a reader.
final class ReclaimTable {
  private static final double MIB = 1 << 20;

  private ReclaimTable() {}

  static String of(ReclaimReport report) {
    TextTable table = new TextTable("READS", "COUNT", "P50", "P90", "P99", "P99.9", "MOST");
    row(table, "nothing put", report.quiet());
    row(table, "blocks put and moved", report.reclaiming());
    return table + "\n" + verdict(report);
  }

  private static void row(TextTable table, String name, ReclaimReport.Reads reads) {
    table.row(name, reads.count(), micros(reads.p50()), micros(reads.p90()), micros(reads.p99()), micros(reads.p999()),
        micros(reads.most()));
  }

  private static String micros(double micros) {
    return String.format(Locale.ROOT, "%.0f us", micros);
  }

  static String verdict(ReclaimReport report) {
    return String.format(Locale.ROOT, "p99: %.2f x its quiet value (at most 2 wanted: %s)%n"
        + "write amplification: %.2f, by the model %.2f at %.1f %% live (off by %.1f %%, at most 10 wanted: %s);"
        + " %.0f MiB put, %.0f MiB moved%n",
        report.slowdown(), word(report.keepsReadsFast()), report.writeAmplification(), report.model(),
        100 * report.liveShare(),
        100 * Math.abs(report.writeAmplification() / report.model() - 1), word(report.followsModel()),
        report.putBytes() / MIB, report.movedBytes() / MIB);
  }

  private static String word(boolean reached) {
    return reached ? "reached" : "missed";
  }
}
