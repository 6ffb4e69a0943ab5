package io.penstock.node.replay.report;

import io.penstock.node.party.TierCopies;
import io.penstock.node.party.TierFill;
import io.penstock.node.report.Summary.Group;
import io.penstock.node.report.Summary.Row;
import io.penstock.node.report.Summary.Table;
import io.penstock.node.report.Summary.TableRow;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// A [ReplayReport] in words, equal in every locale.
final class ReportRows {
  private final ReplayReport r;
  private final ModelSize size;
  private final Reuse.Ceiling ceiling;

  private ReportRows(ReplayReport report) {
    this.r = report;
    this.size = report.model().size(report.reuse().prefillTokensPerSecond());
    this.ceiling = report.reuse().ceiling();
  }

  /// Input, results, and flow.
  static List<Group> of(ReplayReport report) {
    ReportRows rows = new ReportRows(report);
    return List.of(new Group("Input", rows.setting()), new Group("Results", rows.outcome()),
        new Group("How it flowed", rows.flow()));
  }

  /// Percentiles, in milliseconds.
  static Table latencies(ReplayReport report) {
    Micros slice = report.firstSliceMicros();
    return new Table("Latency, ms", List.of("p50", "p90", "p99", "p99.9", "max"),
        List.of(percentiles("first slice", slice.p50() / 1e3, slice.p90() / 1e3, slice.p99() / 1e3, slice.p999() / 1e3,
            slice.max() / 1e3), percentiles("first layer", report.firstLayerMillis()),
            percentiles("last layer", report.lastLayerMillis())));
  }

  private static TableRow percentiles(String name, Latency l) {
    return percentiles(name, l.p50(), l.p90(), l.p99(), l.p999(), l.max());
  }

  private static TableRow percentiles(String name, double... millis) {
    return new TableRow(name, Arrays.stream(millis).mapToObj(ReportRows::millis).toList());
  }

  private static String millis(double millis) {
    return form("%.3f", millis);
  }

  private List<Row> setting() {
    return List.of(new Row("trace", r.trace()), new Row("parties", r.parties()),
        new Row("model", size.words()),
        row("payload", "%s a block over %d layers, %s", Sizes.exact(r.blockBytes()), r.layers(), scale()),
        new Row("capacity", both(joined(r.capacities(), "%s %s"), ", ", r.policy())));
  }

  private List<Row> outcome() {
    List<Row> rows = new ArrayList<>();
    rows.add(row("requests", "%,d", r.requests()));
    rows.add(row("block references", "%,d", r.blockRefs()));
    rows.add(row("hits", "%,d  (%s)", r.hits(),
        both(form("%.2f %%; %,d in a prefix", 100 * r.hitRate(), r.prefixHits()), "; ",
            joined(r.hitsByTier(), "%s %,d"))));
    r.troubles().forEach((level, trouble) -> rows.add(
        row("LEVEL " + level, "WAS %s. Hits are not those of the policy.", upper(trouble))));
    PolicyHits alone = r.policyAlone();
    if (alone != null) {
      rows.add(new Row("policy alone", alone(alone)));
    }
    rows.add(row("hit ceiling", "%,d  (%.2f %%) without a bound: %s", ceiling.hits(),
        100 * ceiling.hitRate(), size.words(ceiling.distinctBlocks())));
    rows.add(row("tokens reused", "%,d of %,d  (%.2f %%); ceiling %,d", r.reuse().tokensReused(),
        r.reuse().promptTokens(), 100 * r.reuse().share(), ceiling.tokensReused()));
    rows.add(row("prefill saved", "%s of %s at %s; ceiling %s", ModelSize.secondsText(r.reuse().prefillSecondsSaved()),
        ModelSize.secondsText(r.reuse().prefillSeconds()), size.rateText(),
        ModelSize.secondsText(ceiling.prefillSecondsSaved())));
    String doubt = r.reuse().doubt();
    if (doubt != null) {
      rows.add(new Row("doubt", doubt));
    }
    r.fillByTier().forEach((name, fill) -> rows.add(new Row("fill of " + name, fill(r.model().of(size, name), fill))));
    r.copiesByTier().forEach((name, copies) -> rows.add(new Row("copies of " + name, copies(copies))));
    rows.add(row("delivered", "%s of payload  (%,d bytes)", Sizes.human(r.bytesDelivered()), r.bytesDelivered()));
    rows.add(r.bytesVerified() == r.bytesDelivered()
        ? new Row("verified", "every byte, compared with the bytes generated")
        : row("verified", "ONLY %,d bytes", r.bytesVerified()));
    Long loopbackBytes = r.loopbackBytes();
    if (loopbackBytes != null) {
      rows.add(row("machine loopback", "%s  (%,d bytes, of every program here)",
          Sizes.human(loopbackBytes), loopbackBytes));
    }
    rows.add(row("corrupt blocks", "%,d", r.corruptBlocks()));
    rows.add(row("leaked blocks", "%,d", r.leakedBlocks()));
    if (r.repeatedPasses() > 0) {
      rows.add(new Row("asked again", Plural.of(r.repeatedPasses(), "time")));
    }
    return rows;
  }

  private List<Row> flow() {
    List<Row> rows = new ArrayList<>();
    rows.add(row("in flight", "at most %s of a budget of %s", Sizes.human(r.peakInFlightBytes()),
        Sizes.human(r.budgetBytes())));
    rows.add(row("time", "%.2f s, %d at a time", r.elapsedSeconds(), r.concurrency()));
    rows.add(row("rate", "%.3f GB/s delivered and verified", r.gigabytesPerSecond()));
    rows.add(row("steady rate", "%.3f GB/s", r.steadyGigabytesPerSecond()));
    r.times().forEach((route, took) -> rows.add(row(route + "s", "%,d, p50 %.3f ms, p99 %.3f ms at the client",
        took.count(), took.p50Millis(), took.p99Millis())));
    rows.add(row("overlap", "when layer 0 has arrived, %.1f %% of the transfer is still to come", 100 * r.overlap()));
    r.ceilingsGigabytesPerSecond().forEach((name, rate) -> rows.add(row("ceiling", "%.2f GB/s %s", rate, name)));
    return rows;
  }

  /// The state of a level in capitals: `OFF: no answer within 5000 ms`.
  private static String upper(String trouble) {
    int end = trouble.indexOf(':');
    return end < 0
        ? trouble.toUpperCase(Locale.ROOT)
        : trouble.substring(0, end).toUpperCase(Locale.ROOT)
            + trouble.substring(end);
  }

  /// Hits of the policy, beside those of the replay.
  private String alone(PolicyHits alone) {
    Long blocks = alone.capacityBlocks();
    long more = r.hits() - alone.hits();
    return form("%,d hits of %s %s without bytes, %s", alone.hits(), alone.policy(),
        blocks == null ? "without a bound" : form("over %,d blocks", blocks),
        more == 0 ? "as here" : form("NOT as here: %,d %s", Math.abs(more), more > 0 ? "more" : "fewer"));
  }

  private static String fill(ModelSize size, TierFill fill) {
    Long capacity = fill.capacityBlocks();
    return capacity == null
        ? size.words(fill.blocks())
        : form("%,d of %,d blocks  (%.1f %%), %s of %s", fill.blocks(), capacity,
            100.0 * fill.blocks() / Math.max(1, capacity), size.gib(fill.blocks()), size.gib(capacity));
  }

  /// Bytes of a block of the model for each byte of its payload: `1 : 1,024`.
  private String scale() {
    double scale = r.model().scale();
    return form(scale == Math.rint(scale) || scale >= 1_000 ? "1 : %,.0f" : "1 : %,.2f", scale);
  }

  private static String copies(TierCopies copies) {
    return form("%,d calls of %s, %.2f elements a call, %,d fallbacks", copies.calls(), copies.device(),
        copies.elementsPerCall(), copies.fallbacks())
        + (copies.failed() == 0 ? "" : form(", %,d FAILED", copies.failed()));
  }

  private static String joined(Map<String, ?> entries, String form) {
    return String.join(", ", entries.entrySet().stream().map(e -> form(form, e.getKey(), e.getValue())).toList());
  }

  private static String both(String first, String between, String second) {
    return first.isEmpty() || second.isEmpty() ? first + second : first + between + second;
  }

  private static Row row(String name, String form, Object... values) {
    return new Row(name, form(form, values));
  }

  private static String form(String form, Object... values) {
    return String.format(Locale.ROOT, form, values);
  }
}
