package io.penstock.node.replay.report;

import io.penstock.node.text.Json;

/// A [ReplayReport] as a file, for a machine and for a person who looks into it.
final class ReportJson {
  private ReportJson() {}

  static String of(ReplayReport report) {
    return Json.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(report) + "\n";
  }
}
