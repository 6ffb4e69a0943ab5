package io.penstock.node.ssd;

import io.penstock.node.cli.TextTable;
import io.penstock.node.config.Sizes;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.DamageKind;
import io.penstock.storage.check.SegmentReport;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/// A [CheckReport] for a reader.
final class CheckTable {
  private CheckTable() {}

  static String of(CheckReport report) {
    TextTable segments = new TextTable("SEGMENT", "FILE", "BYTES", "RECORDS", "LIVE", "DEAD", "REMOVALS", "CORRUPT", "TORN", "ASIDE");
    for (SegmentReport each : report.segments()) {
      segments.row(each.segment(), each.file(), Sizes.human(each.bytes()), each.records(), each.live(), each.dead(), each.removals(),
          each.corrupt(), each.torn(), Sizes.human(each.asideBytes()));
    }
    String damage = report.damage().isEmpty() ? "" : "\n" + damage(report.damage());
    return segments + damage + "\n" + verdict(report) + "\n";
  }

  private static TextTable damage(List<Damage> damage) {
    TextTable table = new TextTable("SEGMENT", "OFFSET", "LENGTH", "WHAT", "COUNTS", "GRANULE", "KEY", "REASON");
    for (Damage each : damage) {
      table.row(each.segment(), each.offset(), each.length(), word(each.kind()), each.live() ? "yes" : "no", each.granule() < 0 ? "-" : each.granule(),
          key(each), each.reason());
    }
    return table;
  }

  static String key(Damage damage) {
    String key = damage.key();
    return key == null ? "unknown" : key;
  }

  static String word(Enum<?> of) {
    return of.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static String verdict(CheckReport report) {
    if (report.clean()) {
      return "clean: %,d blocks in %,d segments of engine %s".formatted(report.live(), report.segments().size(), report.engine());
    }
    long unreadable = report.damage().stream().filter(each -> each.kind() == DamageKind.UNREADABLE).count();
    return "damaged: %,d ranges, %,d torn ends; %,d good blocks are left%s".formatted(sum(report, SegmentReport::corrupt),
        sum(report, SegmentReport::torn), report.live(), unreadable == 0 ? "" : "; %,d segments cannot be read to their end".formatted(unreadable));
  }

  private static long sum(CheckReport report, ToLongFunction<SegmentReport> of) {
    return report.segments().stream().mapToLong(of).sum();
  }
}
