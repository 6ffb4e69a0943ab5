package io.penstock.node.bench;

import io.penstock.node.bench.RecoveryReport.Figure;
import io.penstock.node.cli.TextTable;
import io.penstock.node.config.Sizes;
import java.util.Locale;

/// A [RecoveryReport] for a reader.
final class RecoveryTable {
  private RecoveryTable() {}

  static String of(RecoveryReport report) {
    TextTable table = new TextTable("WHAT", "TIME", "PER 10 GB", "TO THE READ", "WANTED");
    row(table, "sequential read of the files", report.sequentialRead(), "");
    row(table, "check of every byte", report.check(), "at most 1.25 times: " + word(report.checksFast()));
    row(table, "opening with checkpoints", report.open(), "at most 1 s per 10 GB: " + word(report.opensFast()));
    row(table, "opening without", report.openWithout(), "at most 3 s per 10 GB: " + word(report.opensFastWithout()));
    return table + "\n" + String.format(Locale.ROOT, "engine %s, %,d blocks of %s in %d segments, %s; %s; medians of %d%n", report.engine(), report.blocks(),
        Sizes.human(report.blockBytes()), report.segments(), Sizes.human(report.bytes()),
        report.cold() ? "nothing of it in the system's cache" : "all of it in the system's cache", report.rounds());
  }

  private static void row(TextTable table, String what, Figure figure, String wanted) {
    table.row(what, String.format(Locale.ROOT, "%.3f s", figure.seconds()), String.format(Locale.ROOT, "%.2f s", figure.secondsPerTenGigabytes()),
        String.format(Locale.ROOT, "%.2f", figure.timesSequentialRead()), wanted);
  }

  private static String word(boolean reached) {
    return reached ? "reached" : "missed";
  }
}
