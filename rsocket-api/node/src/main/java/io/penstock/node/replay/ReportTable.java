package io.penstock.node.replay;

import io.penstock.node.report.Summary.Row;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// A [ReplayReport] for a person at a terminal.
final class ReportTable {
  private ReportTable() {}

  static String of(ReplayReport report) {
    return ReportRows.of(report).stream().map(group -> lines(group.rows())).collect(Collectors.joining("\n"));
  }

  private static String lines(List<Row> rows) {
    return rows.stream().map(row -> String.format(Locale.ROOT, "  %-17s %s\n", row.name(), row.value()))
        .collect(Collectors.joining());
  }
}
