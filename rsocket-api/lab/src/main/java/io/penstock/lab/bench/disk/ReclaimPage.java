package io.penstock.lab.bench.disk;

import io.penstock.node.report.ChartData;
import io.penstock.node.report.ChartData.Chart;
import io.penstock.node.report.ChartData.Line;
import io.penstock.node.report.ReportPage;
import io.penstock.node.report.Summary;
import io.penstock.node.report.Summary.Group;
import io.penstock.node.report.Summary.Row;
import io.penstock.node.text.Durations;
import io.penstock.node.text.Json;
import io.penstock.node.text.Sizes;
import java.util.List;
import java.util.Locale;

/// A [ReclaimReport] and its measurements, as a page for a browser.
final class ReclaimPage {
  private ReclaimPage() {}

  static String of(ReclaimReport report, ReclaimLoad load, ReclaimSeries series) {
    boolean good = report.keepsReadsFast() && report.followsModel();
    Summary summary = new Summary("Reads while blocks are moved together", verdict(report), good, tiles(report),
        List.of(setting(report, load), reads(report)));
    ChartData data = new ChartData("seconds since the first read that counts", series.seconds,
        List.of(latency(report, series), amplification(report, series), bytes(series)));
    return ReportPage.of(summary, Json.of(data), "penstock " + report.penstock());
  }

  private static String verdict(ReclaimReport report) {
    return (report.keepsReadsFast()
        ? "The p99 of reads stays below twice its quiet value"
        : "The p99 of reads is more than twice its quiet value")
        + (report.followsModel()
            ? ", and the write amplification is within a tenth of its model."
            : ", and the write amplification is off its model.");
  }

  private static List<Row> tiles(ReclaimReport report) {
    return List.of(row("p99, nothing put", "%.0f µs", report.quiet().p99()),
        row("p99 while moving", "%.0f µs", report.reclaiming().p99()),
        row("Ratio", "%.2f", report.slowdown()), row("Write amplification", "%.2f", report.writeAmplification()),
        row("By the model", "%.2f", report.model()));
  }

  private static Group setting(ReclaimReport report, ReclaimLoad load) {
    return new Group("Setting",
        List.of(new Row("engine", report.engine()), new Row("blocks", Sizes.human(load.blockBytes())),
            new Row("segments", Sizes.human(load.segmentBytes())), new Row("live", Sizes.human(load.liveBytes())),
            row("live of all held", "%.1f %%", 100 * report.liveShare()),
            row("reads a second", "%d", load.readsPerSecond()),
            new Row("put a second", Sizes.human(load.putBytesPerSecond())),
            new Row("phase", Durations.print(load.phase())),
            row("seed", "%d", load.seed())));
  }

  private static Group reads(ReclaimReport report) {
    return new Group("Reads", List.of(reads("nothing put", report.quiet()), reads("moving", report.reclaiming())));
  }

  private static Row reads(String name, ReclaimReport.Reads of) {
    return new Row(name,
        String.format(Locale.ROOT, "%,d: p50 %.0f µs, p90 %.0f µs, p99 %.0f µs, p99.9 %.0f µs, most %.0f µs",
            of.count(), of.p50(), of.p90(), of.p99(),
            of.p999(), of.most()));
  }

  private static Row row(String name, String form, Object value) {
    return new Row(name, String.format(Locale.ROOT, form, value));
  }

  private static Chart latency(ReclaimReport report, ReclaimSeries series) {
    return new Chart("latency", "Time of reads",
        "Time from when a read was due until its last byte was compared; percentiles of each second.",
        "time, logarithmic",
        "time", true,
        List.of(new Line("p50", series.p50Micros), new Line("p99", series.p99Micros),
            Line.level("p99 while nothing is put", report.quiet().p99()),
            Line.level("twice that", 2 * report.quiet().p99())));
  }

  private static Chart amplification(ReclaimReport report, ReclaimSeries series) {
    return new Chart("amplification", "Write amplification", "Bytes written for each byte put, since puts began.",
        "bytes a byte", "", false,
        List.of(new Line("measured", series.amplification), Line.level("model", report.model()),
            Line.level("a tenth more", 1.1 * report.model()),
            Line.level("a tenth less", 0.9 * report.model())));
  }

  private static Chart bytes(ReclaimSeries series) {
    return new Chart("bytes", "Bytes put and moved", "In each second.", "MiB a second", "MiB/s", false,
        List.of(new Line("put", series.putMibPerSecond), new Line("moved", series.movedMibPerSecond)));
  }
}
