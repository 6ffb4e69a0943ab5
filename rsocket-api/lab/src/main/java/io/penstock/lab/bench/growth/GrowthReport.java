package io.penstock.lab.bench.growth;

import io.penstock.PenstockVersion;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.BenchNames;
import io.penstock.lab.bench.side.Direction;
import io.penstock.node.text.Plural;
import io.penstock.node.text.TextTable;
import java.util.List;
import java.util.Locale;

/// What `bench growth` found.
///
/// @param penstock version
/// @param most that an exponent may be; 0 for no limit
/// @param rounds in which the sizes took turns
record GrowthReport(String penstock, double most, int rounds, List<Row> rows) implements Bench.Report {
  /// @param n how many there were
  /// @param cpuMicros CPU time of a unit of work, both sides together; median of the rounds
  record Point(int n, double cpuMicros) {}

  /// @param grows what was doubled
  /// @param unit of the work
  /// @param exponent e where the CPU time of all work grows as nᵉ
  record Row(String grows, String direction, String unit, double exponent, List<Point> points) {
    static Row of(Growth growth, Direction direction, List<Point> points) {
      return new Row(growth.words(), BenchNames.of(direction), growth.unit(), fitted(points), points);
    }
  }

  static GrowthReport of(double most, int rounds, List<Row> rows) {
    return new GrowthReport(PenstockVersion.current(), most, rounds, List.copyOf(rows));
  }

  /// Least squares of log CPU of a unit on log n, and 1 for the units.
  static double fitted(List<Point> points) {
    double meanX = points.stream().mapToDouble(point -> Math.log(point.n)).average().orElseThrow();
    double meanY = points.stream().mapToDouble(point -> Math.log(point.cpuMicros)).average().orElseThrow();
    double together = 0;
    double squares = 0;
    for (Point point : points) {
      double x = Math.log(point.n) - meanX;
      together += x * (Math.log(point.cpuMicros) - meanY);
      squares += x * x;
    }
    return 1 + together / squares;
  }

  @Override
  public boolean meetsTargets() {
    return most == 0 || rows.stream().allMatch(row -> row.exponent <= most);
  }

  @Override
  public String table() {
    TextTable table = new TextTable("GROWS", "BY", "FROM", "TO", "CPU µs OF A", "AT FIRST", "AT LAST", "EXPONENT");
    rows.forEach(row -> table.row(row.grows, row.direction, row.points.getFirst().n, row.points.getLast().n, row.unit,
        number(row.points.getFirst().cpuMicros), number(row.points.getLast().cpuMicros), number(row.exponent)));
    return table + String.format(Locale.ROOT, "%nCPU time of all work grows as n to the exponent; medians of %s%n",
        Plural.of(rounds, "round"));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
