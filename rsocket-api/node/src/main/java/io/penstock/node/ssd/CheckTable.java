package io.penstock.node.ssd;

import static java.util.Objects.requireNonNull;

import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.DamageKind;
import io.penstock.storage.check.SegmentReport;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/// A [CheckReport] for a reader.
final class CheckTable {
  private CheckTable() {}

  /// @param all whether sound segments have a row each, too, instead of one line
  static String of(CheckReport report, boolean all) {
    Set<Integer> damaged = report.damage().stream().map(Damage::segment).collect(Collectors.toSet());
    Map<Boolean, List<SegmentReport>> bySound = report.segments().stream()
        .collect(Collectors
            .partitioningBy(each -> each.corrupt() == 0 && each.torn() == 0 && !damaged.contains(each.segment())));
    List<SegmentReport> sound = requireNonNull(bySound.get(true));
    List<SegmentReport> rows = all ? report.segments() : requireNonNull(bySound.get(false));
    return (rows.isEmpty() ? "" : segments(rows) + "\n") + (all || sound.isEmpty() ? "" : summary(sound))
        + (report.damage().isEmpty() ? "" : damage(report.damage()) + "\n") + verdict(report) + "\n";
  }

  private static TextTable segments(List<SegmentReport> rows) {
    TextTable table =
        new TextTable("SEGMENT", "FILE", "BYTES", "RECORDS", "LIVE", "DEAD", "REMOVALS", "CORRUPT", "TORN");
    for (SegmentReport each : rows) {
      table.row(String.valueOf(each.segment()), each.file(), Sizes.human(each.bytes()), each.records(), each.live(),
          each.dead(), each.removals(),
          each.corrupt(), each.torn());
    }
    return table;
  }

  private static String summary(List<SegmentReport> sound) {
    return "sound: %s, %s; %s, %s live, %s dead, %s%n%n".formatted(Plural.of(sound.size(), "segment"),
        Sizes.human(sum(sound, SegmentReport::bytes)), Plural.of(sum(sound, SegmentReport::records), "record"),
        Numbers.of(sum(sound, SegmentReport::live)),
        Numbers.of(sum(sound, SegmentReport::dead)), Plural.of(sum(sound, SegmentReport::removals), "removal"));
  }

  private static TextTable damage(List<Damage> damage) {
    TextTable table = new TextTable("SEGMENT", "OFFSET", "LENGTH", "WHAT", "COUNTS", "GRANULE", "KEY", "REASON");
    for (Damage each : damage) {
      table.row(String.valueOf(each.segment()), String.valueOf(each.offset()), each.length(), word(each.kind()),
          each.live() ? "yes" : "no", each.granule() < 0 ? "-" : String.valueOf(each.granule()),
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
      return "clean: %s in %s of engine %s".formatted(Plural.of(report.live(), "block"),
          Plural.of(report.segments().size(), "segment"), report.engine());
    }
    long unreadable = report.damage().stream().filter(each -> each.kind() == DamageKind.UNREADABLE).count();
    return "damaged: %s, %s; %s left%s".formatted(Plural.of(sum(report.segments(), SegmentReport::corrupt), "range"),
        Plural.of(sum(report.segments(), SegmentReport::torn), "torn end"), Plural.of(report.live(), "good block"),
        unreadable == 0 ? "" : "; %s cannot be read to the end".formatted(Plural.of(unreadable, "segment")));
  }

  private static long sum(List<SegmentReport> segments, ToLongFunction<SegmentReport> of) {
    return segments.stream().mapToLong(of).sum();
  }
}
