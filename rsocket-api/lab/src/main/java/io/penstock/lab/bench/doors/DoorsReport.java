package io.penstock.lab.bench.doors;

import io.penstock.lab.bench.side.Bench;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Result of `bench doors`: medians of the rounds.
///
/// @param penstock version
/// @param seconds of each turn
record DoorsReport(String penstock, double seconds, int rounds, List<Row> rows) implements Bench.Report {
  private static final double MEGA = 1e6;

  /// @param valueBytes 0 for a question
  /// @param perSecond requests at the node
  /// @param redisPerSecond requests at the Redis server; null without one
  /// @param ratio of both, the median of the rounds; null without one
  record Row(DoorLoad.Kind kind, int valueBytes, int clients, double perSecond, @Nullable Double redisPerSecond,
      @Nullable Double ratio) {
    static Row of(DoorLoad.Kind kind, int valueBytes, int clients, List<Double> ours, List<Double> theirs) {
      List<Double> ratios = new ArrayList<>();
      for (int i = 0; i < theirs.size(); i++) {
        ratios.add(ours.get(i) / theirs.get(i));
      }
      return new Row(kind, valueBytes, clients, median(ours), theirs.isEmpty() ? null : (Double) median(theirs),
          ratios.isEmpty() ? null : (Double) median(ratios));
    }

    private static double median(List<Double> all) {
      return all.stream().sorted().toList().get(all.size() / 2);
    }

    private String rate(@Nullable Double each) {
      return each == null
          ? "-"
          : valueBytes == 0
              ? String.format(Locale.ROOT, "%,.0f /s", each)
              : String.format(Locale.ROOT, "%,.0f MB/s", each * valueBytes / MEGA);
    }
  }

  @Override
  public String table() {
    TextTable table = new TextTable("REQUEST", "VALUE", "CLIENTS", "PENSTOCK", "REDIS", "RATIO");
    rows.forEach(row -> table.row(row.kind, row.valueBytes == 0 ? "-" : Sizes.exact(row.valueBytes), row.clients,
        row.rate(row.perSecond), row.rate(row.redisPerSecond),
        row.ratio == null ? "-" : String.format(Locale.ROOT, "%.2f", row.ratio)));
    return table.toString();
  }
}
