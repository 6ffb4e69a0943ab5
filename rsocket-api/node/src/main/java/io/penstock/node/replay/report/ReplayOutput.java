package io.penstock.node.replay.report;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ReportFiles;
import io.penstock.node.report.Summary.Row;
import io.penstock.node.text.Json;
import java.io.IOException;
import java.util.List;

/// Destination of the result of a replay: standard output, and the files of `--report`.
public final class ReplayOutput {
  private final Console console;
  private final boolean json;
  private final ReportFiles files;

  /// @throws IOException if a file cannot be written, which is known before the run
  public ReplayOutput(Console console, boolean json, ReportFiles files) throws IOException {
    this.console = console;
    this.json = json;
    this.files = files;
    files.require();
  }

  /// Whether a page shows the run over time.
  public boolean hasCharts() {
    return files.hasPages();
  }

  /// @param timeline of the run, if there are charts
  /// @param circumstances for the page
  public void show(ReplayReport outcome, Timeline timeline, List<Row> circumstances) {
    console.out().print(json ? Json.of(outcome) + "\n" : ReportTable.of(outcome));
    console.out().flush();
    files.write(console, ReportJson.of(outcome),
        () -> ReplayPage.of(outcome, RunSeries.of(timeline), circumstances));
  }
}
