package io.penstock.node.replay;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.Json;
import io.penstock.node.cli.OutputFile;
import io.penstock.node.report.Summary.Row;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Where the outcome of a replay goes: to standard output, and to a file of JSON and a page with charts if they were
/// asked for.
final class ReplayOutput {
  private final Console console;
  private final boolean json;
  private final @Nullable OutputFile page;
  private final @Nullable OutputFile report;

  /// @throws IOException if a file cannot be written, which is known before the run
  ReplayOutput(Console console, boolean json, @Nullable Path page, @Nullable Path report) throws IOException {
    this.console = console;
    this.json = json;
    this.page = page == null ? null : OutputFile.of("--report-html", page);
    this.report = report == null ? null : OutputFile.of("--report", report);
  }

  /// Whether anybody wants to see the run over time.
  boolean hasCharts() {
    return page != null;
  }

  /// @param timeline of the run, if there are charts
  /// @param circumstances for the page
  void show(ReplayReport outcome, Timeline timeline, List<Row> circumstances) {
    if (report != null) {
      write(report, ReportJson.of(outcome));
    }
    console.out().print(json ? Json.of(outcome) + "\n" : ReportTable.of(outcome));
    console.out().flush();
    if (page != null) {
      write(page, ReplayPage.of(outcome, RunSeries.of(timeline), circumstances));
      console.say("charts in " + page);
    }
  }

  private static void write(OutputFile file, String content) {
    try {
      file.write(content.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
