package io.penstock.node.replay.report;

import io.penstock.node.report.Summary.Row;
import io.penstock.node.report.Summary.Table;
import io.penstock.node.text.TextTable;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A [ReplayReport] for a person at a terminal.
final class ReportTable {
  private static final int INDENT = 20;

  private ReportTable() {}

  static String of(ReplayReport report) {
    return Stream.concat(ReportRows.of(report).stream().map(group -> lines(group.rows())),
        Stream.of(lines(ReportRows.latencies(report)))).collect(Collectors.joining("\n"));
  }

  private static String lines(List<Row> rows) {
    return rows.stream().map(row -> line(row.name(), row.value())).collect(Collectors.joining());
  }

  private static String lines(Table table) {
    return line(table.name(), cells(table.columns()))
        + table.rows().stream().map(row -> line(row.name(), cells(row.values()))).collect(Collectors.joining());
  }

  private static String cells(List<String> cells) {
    return cells.stream().map(cell -> String.format(Locale.ROOT, "%11s", cell)).collect(Collectors.joining());
  }

  private static String line(String name, String value) {
    return TextTable.wrapped(String.format(Locale.ROOT, "  %-17s %s", name, value), INDENT) + "\n";
  }
}
