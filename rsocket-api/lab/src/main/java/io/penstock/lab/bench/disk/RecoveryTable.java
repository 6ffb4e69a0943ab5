package io.penstock.lab.bench.disk;

import io.penstock.lab.bench.disk.RecoveryReport.Figure;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.Locale;

/// A [RecoveryReport] for a reader.
final class RecoveryTable {
  private RecoveryTable() {}

  static String of(RecoveryReport report) {
    TextTable table = new TextTable("WHAT", "TIME", "PER 10 GB", "TO THE READ", "WANTED");
    row(table, "sequential read of the files", report.sequentialRead(), "");
    row(table, "check of every byte", report.check(), "at most 1.25 times: " + word(report, report.checksFast()));
    row(table, "opening with checkpoints", report.open(), "at most 1 s per 10 GB: " + word(report, report.opensFast()));
    row(table, "opening without checkpoints", report.openWithout(),
        "at most 3 s per 10 GB: " + word(report, report.opensFastWithout()));
    return table.wrapped() + "\n"
        + String.format(Locale.ROOT, "engine %s, %s of %s in %s, %s; %s; medians of %s%n%s", report.engine(),
            Plural.of(report.blocks(), "block"), Sizes.human(report.blockBytes()),
            Plural.of(report.segments(), "segment"), Sizes.human(report.bytes()),
            report.cold() ? "nothing of it in the system's cache" : "all of it in the system's cache",
            Plural.of(report.rounds(), "round"),
            report.judged()
                ? ""
                : "files of less than %s are not judged: most of the time is what every opening and every check costs%n"
                    .formatted(Sizes.exact(RecoveryReport.LEAST_JUDGED)));
  }

  private static void row(TextTable table, String what, Figure figure, String wanted) {
    table.row(what, String.format(Locale.ROOT, "%.3f s", figure.seconds()),
        String.format(Locale.ROOT, "%.2f s", figure.secondsPerTenGigabytes()),
        String.format(Locale.ROOT, "%.2f", figure.timesSequentialRead()), wanted);
  }

  private static String word(RecoveryReport report, boolean reached) {
    return !report.judged() ? "not judged" : reached ? "reached" : "missed";
  }
}
