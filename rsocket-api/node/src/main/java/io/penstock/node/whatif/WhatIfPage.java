package io.penstock.node.whatif;

import io.penstock.PenstockVersion;
import io.penstock.node.report.ChartData;
import io.penstock.node.report.ChartData.Chart;
import io.penstock.node.report.ChartData.Line;
import io.penstock.node.report.ChartData.Mark;
import io.penstock.node.report.LruCurve;
import io.penstock.node.report.ReportPage;
import io.penstock.node.report.Summary;
import io.penstock.node.report.Summary.Group;
import io.penstock.node.report.Summary.Row;
import io.penstock.node.report.Summary.Table;
import io.penstock.node.report.Summary.TableRow;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Json;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.whatif.WhatIfReport.At;
import io.penstock.node.whatif.WhatIfReport.OfTrace;
import io.penstock.node.whatif.WhatIfReport.Space;
import io.penstock.node.whatif.WhatIfReport.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The result of `penstock whatif` as a page for a browser: figures of each space, and its curve.
final class WhatIfPage {
  /// A chart begins at this part of the greatest capacity.
  private static final long SHOWN = 4_096;

  private final WhatIfReport report;
  /// Capacities of the points of all curves, ascending.
  private final List<Long> capacities;

  private WhatIfPage(WhatIfReport report) {
    this.report = report;
    List<Long> all = report.spaces().stream().flatMap(space -> space.curve().stream()).map(At::capacityBlocks)
        .filter(blocks -> blocks > 0).distinct().sorted().toList();
    this.capacities = all.stream().filter(blocks -> blocks >= all.getLast() / SHOWN).toList();
  }

  static String of(WhatIfReport report) {
    WhatIfPage page = new WhatIfPage(report);
    Summary summary = new Summary("Hit rate by capacity: " + report.source(), page.verdict(), true, page.tiles(),
        report.spaces().stream().map(WhatIfPage::group).toList(),
        report.spaces().stream().map(WhatIfPage::table).toList());
    return ReportPage.of(summary, Json.of(page.data()), "penstock " + PenstockVersion.current());
  }

  private String verdict() {
    return report.spaces().stream().map(WhatIfPage::verdict).collect(Collectors.joining(" "));
  }

  private static String verdict(Space space) {
    OfTrace trace = space.trace();
    LruCurve.At knee = trace == null ? null : trace.knee();
    if (trace == null || knee == null) {
      return "%s of %s.".formatted(Plural.of(space.references(), "reference"), space.name());
    }
    String assumed = trace.isAssumed() ? " The present capacity is assumed, because none was given." : "";
    return "Knee of LRU: %s.%s".formatted(knee.words(space.size()), assumed);
  }

  private List<Row> tiles() {
    List<Row> tiles = new ArrayList<>();
    for (Space space : report.spaces()) {
      tiles.add(new Row("References of " + space.name(), Numbers.of(space.references())));
      OfTrace trace = space.trace();
      if (trace != null) {
        tiles.add(new Row("Different blocks", space.size().words(trace.workingSetBlocks())));
        tiles.add(new Row("Ceiling, without a bound", WhatIfTable.exact(trace.ceilingHitRate())));
        tiles.add(new Row("Prompts", ModelSize.tokensText(trace.promptTokens()) + " tokens, "
            + ModelSize.secondsText(space.size().seconds(trace.promptTokens())) + " of prefill"));
      }
    }
    return tiles;
  }

  private static Group group(Space space) {
    return new Group(space.name(), List.of(new Row(space.trace() == null ? "blocks" : "model", space.size().words()),
        new Row("prefill rate", space.size().rateText()), new Row("sampled keys",
            "%s (%s)".formatted(Numbers.of(space.samples()), WhatIfTable.share(space.rate())))));
  }

  private static Table table(Space space) {
    boolean isAssumed = space.trace() != null && space.trace().isAssumed();
    return new Table(space.name(), List.of("Step", "Blocks", "GiB", "Hit rate", "± points", "Exact", "Tokens reused",
        "Prefill saved"), space.steps().stream().map(step -> row(space.size(), step, isAssumed)).toList());
  }

  private static TableRow row(ModelSize size, Step step, boolean isAssumed) {
    boolean isUnbounded = step.capacityBlocks() == Long.MAX_VALUE;
    return new TableRow(step.level(), List.of(
        step.addBlocks() > 0 ? "+" + size.gib(step.addBlocks()) : isAssumed ? "assumed" : "now",
        isUnbounded ? "unbounded" : Numbers.of(step.capacityBlocks()),
        isUnbounded ? "" : size.gib(step.capacityBlocks()),
        (step.beyond() ? ">= " : "") + WhatIfTable.exact(step.tier().hitRate()),
        String.format(Locale.ROOT, "%.1f", 100 * step.tier().plusMinus()), WhatIfTable.exact(step.exactHitRate()),
        ModelSize.tokensText(step.tokensReused()), ModelSize.secondsText(step.prefillSecondsSaved())));
  }

  private ChartData data() {
    List<Chart> charts = new ArrayList<>();
    for (int i = 0; i < report.spaces().size(); i++) {
      charts.add(chart(i, report.spaces().get(i)));
      charts.add(savings(i, report.spaces().get(i)));
    }
    return ChartData.byBlocks(capacities.stream().map(Long::doubleValue).toList(), charts, blockBytes(), marks());
  }

  private static String of(boolean isOfTrace) {
    return isOfTrace ? "exact, and estimated from sampled keys" : "estimated from sampled keys";
  }

  private Chart chart(int number, Space space) {
    Map<Long, At> points = points(space);
    OfTrace trace = space.trace();
    List<Line> lines = new ArrayList<>();
    if (trace != null) {
      lines.add(line("exact", points, at -> 100 * (at.exactHitRate() == null ? 0 : at.exactHitRate())));
    }
    lines.add(line("estimate", points, at -> 100 * at.hitRate()));
    lines.add(line("95 % interval, from", points, at -> 100 * Math.max(0, at.hitRate() - at.plusMinus())));
    lines.add(line("95 % interval, to", points, at -> 100 * Math.min(1, at.hitRate() + at.plusMinus())));
    if (trace != null) {
      lines.add(Line.level("ceiling", 100 * trace.ceilingHitRate()));
    }
    return new Chart("space" + number, "Hit rate of " + space.name(), "LRU, " + of(trace != null) + ".",
        "% of block references", "%", false, lines);
  }

  private Chart savings(int number, Space space) {
    List<Line> lines = new ArrayList<>();
    lines.add(line("prefill saved", points(space), at -> space.size().seconds(at.tokensReused())));
    OfTrace trace = space.trace();
    if (trace != null) {
      lines.add(Line.level("all prompts", space.size().seconds(trace.promptTokens())));
    }
    return new Chart("prefill" + number, "Prefill saved by " + space.name(),
        "Time that an engine of " + space.size().rateText() + " does not compute.", "seconds", "s", false, lines);
  }

  private static Map<Long, At> points(Space space) {
    return space.curve().stream().collect(Collectors.toMap(At::capacityBlocks, at -> at, (first, second) -> first));
  }

  private Line line(String label, Map<Long, At> points, ToDoubleFunction<At> value) {
    return new Line(label, capacities.stream().<@Nullable Double>map(blocks -> {
      At at = points.get(blocks);
      return at == null ? null : (Double) value.applyAsDouble(at);
    }).toList());
  }

  /// Bytes of a block, if those of all spaces are equal.
  private long blockBytes() {
    List<Long> sizes = report.spaces().stream().map(space -> space.size().blockBytes()).distinct().toList();
    return sizes.size() == 1 ? sizes.getFirst() : 0;
  }

  /// The knee of a trace, where no other curve is.
  private List<Mark> marks() {
    return report.spaces().stream().map(Space::trace).filter(trace -> trace != null && trace.kneeBlocks() != null)
        .map(trace -> new Mark("knee", trace == null || trace.kneeBlocks() == null ? 0 : trace.kneeBlocks())).toList();
  }
}
