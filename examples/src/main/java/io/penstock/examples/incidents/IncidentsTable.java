package io.penstock.examples.incidents;

import io.penstock.node.text.Numbers;
import io.penstock.node.text.TextTable;
import java.util.List;
import java.util.Locale;

/// Reports for a reader.
final class IncidentsTable {
  private IncidentsTable() {}

  static String of(List<IncidentReport> reports) {
    TextTable table = new TextTable("INCIDENT", "REPORTED", "EVENTS", "BROKEN AT", "PLAYS", "MS", "PENSTOCK");
    for (IncidentReport report : reports) {
      table.row(report.name(), report.issue(), report.events(), report.event(), report.plays(),
          String.format(Locale.ROOT, "%.2f", report.millis()), kept(report));
    }
    StringBuilder text = new StringBuilder(table.toString()).append('\n');
    reports.stream().filter(report -> !report.holds()).forEach(report -> text.append(problem(report)).append('\n'));
    return text
        .append("incidents: %s, each played to equal events, found, and kept by Penstock: %s%n".formatted(
            Numbers.of(reports.size()), reports.stream().allMatch(IncidentReport::holds) ? "yes" : "NO"))
        .toString();
  }

  private static String kept(IncidentReport report) {
    return report.holds() ? "keeps the promise" : "DOES NOT HOLD";
  }

  private static String problem(IncidentReport report) {
    return "%s: difference %s; broken at event %d; peer: %s; Penstock: %s, broken %s; SHA-256 %s".formatted(
        report.name(), report.difference(), report.event(), report.peer(), report.penstock(), report.broken(),
        report.sha256());
  }
}
