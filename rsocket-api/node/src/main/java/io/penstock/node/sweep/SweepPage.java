package io.penstock.node.sweep;

import io.penstock.PenstockVersion;
import io.penstock.block.EvictionPolicy;
import io.penstock.node.config.Policies;
import io.penstock.node.report.ChartData;
import io.penstock.node.report.ChartData.Chart;
import io.penstock.node.report.ChartData.Line;
import io.penstock.node.report.ChartData.Mark;
import io.penstock.node.report.ReportPage;
import io.penstock.node.report.Summary;
import io.penstock.node.report.Summary.Group;
import io.penstock.node.report.Summary.Row;
import io.penstock.node.report.Summary.Table;
import io.penstock.node.report.Summary.TableRow;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Json;
import io.penstock.node.text.Numbers;
import io.penstock.node.trace.TraceTotals;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The results of a sweep as a page for a browser.
record SweepPage(SweepOutcome outcome) {
  /// Label of the line that no policy can pass.
  private static final String CEILING = "ceiling";

  static String of(SweepOutcome outcome) {
    SweepPage page = new SweepPage(outcome);
    Summary summary = new Summary("Eviction policies on " + outcome.trace(), page.verdict(), true, page.tiles(),
        List.of(page.model()),
        List.of(page.table("Hits", result -> Numbers.of(result.hits())),
            page.table("Hit rate", result -> SweepTable.percent(result.hitRate())),
            page.table("Prefix hits", result -> Numbers.of(result.prefixHits())),
            page.table("Tokens reused", result -> ModelSize.tokensText(result.tokensReused())),
            page.table("Prefill saved", result -> page.seconds(result.tokensReused()))));
    return ReportPage.of(summary, Json.of(page.data()), "penstock " + PenstockVersion.current());
  }

  private List<Row> tiles() {
    TraceTotals totals = outcome.totals();
    List<Row> tiles = new ArrayList<>(List.of(new Row("Requests", Numbers.of(totals.requests())),
        new Row("Block references", Numbers.of(totals.references())),
        new Row("Different blocks", size().words(totals.distinctBlocks())),
        new Row("Ceiling, without a bound", SweepTable.percent(totals.ceiling()))));
    outcome.knee().ifPresent(knee -> tiles.add(new Row("Knee of LRU", size().words(knee.blocks()))));
    return tiles;
  }

  private Group model() {
    TraceTotals totals = outcome.totals();
    List<Row> rows = new ArrayList<>(List.of(new Row("model", size().words()),
        new Row("prompts", Numbers.of(totals.promptTokens()) + " tokens, " + seconds(totals.promptTokens())
            + " of prefill at " + size().rateText()),
        new Row(CEILING, "%s hits, %s tokens reused, %s of prefill saved".formatted(Numbers.of(totals.ceilingHits()),
            Numbers.of(totals.reusableTokens()), seconds(totals.reusableTokens())))));
    outcome.knee().ifPresent(knee -> rows.add(new Row("knee of LRU", knee.words(size()) + ". " + SweepTable.KNEE)));
    return new Group("Sizes", rows);
  }

  private ModelSize size() {
    return outcome.size();
  }

  private String seconds(long tokens) {
    return ModelSize.secondsText(size().seconds(tokens));
  }

  private String verdict() {
    return outcome.capacities().stream().map(capacity -> "%s at %s".formatted(
        Policies.print(outcome.best(capacity).policy()), SweepTable.capacity(outcome, capacity)))
        .collect(Collectors.joining(", ", "Most hits, by blocks: ", "."));
  }

  private Table table(String name, Function<SweepResult, String> cell) {
    return new Table(name, outcome.capacities().stream().map(blocks -> SweepTable.capacity(outcome, blocks)).toList(),
        outcome.policies().stream()
            .map(policy -> new TableRow(Policies.print(policy), outcome.of(policy).stream().map(cell).toList()))
            .toList());
  }

  private ChartData data() {
    TraceTotals totals = outcome.totals();
    return ChartData.byBlocks(outcome.capacities().stream().map(Long::doubleValue).toList(), List.of(
        chart("hits", "Hit rate", "Blocks that were present when their turn came.", "% of block references", "%",
            result -> 100 * result.hitRate(), 100 * totals.ceiling()),
        chart("prefix", "Prefix hit rate", "Blocks of the longest prefix that was present when the request came.",
            "% of block references", "%", result -> 100 * result.prefixHitRate(), 100 * totals.prefixCeiling()),
        chart("prefill", "Prefill saved", "Time that an engine of " + size().rateText() + " does not compute.",
            "seconds", "s", result -> size().seconds(result.tokensReused()), size().seconds(totals.reusableTokens()))),
        size().blockBytes(), outcome.knee().stream().map(knee -> new Mark("knee", knee.blocks())).toList());
  }

  private Chart chart(String id, String title, String about, String axis, String unit,
      ToDoubleFunction<SweepResult> value, double ceiling) {
    List<Line> lines = new ArrayList<>();
    outcome.policies().forEach(policy -> lines.add(line(policy, value)));
    lines.add(Line.level(CEILING, ceiling));
    return new Chart(id, title, about, axis, unit, false, lines);
  }

  private Line line(EvictionPolicy policy, ToDoubleFunction<SweepResult> value) {
    return new Line(Policies.print(policy),
        outcome.of(policy).stream().<@Nullable Double>map(value::applyAsDouble).toList());
  }
}
