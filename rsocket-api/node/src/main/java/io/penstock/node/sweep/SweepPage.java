package io.penstock.node.sweep;

import io.penstock.PenstockVersion;
import io.penstock.block.EvictionPolicy;
import io.penstock.node.config.Policies;
import io.penstock.node.report.ChartData;
import io.penstock.node.report.ChartData.Chart;
import io.penstock.node.report.ChartData.Line;
import io.penstock.node.report.ReportPage;
import io.penstock.node.report.Summary;
import io.penstock.node.report.Summary.Row;
import io.penstock.node.report.Summary.Table;
import io.penstock.node.report.Summary.TableRow;
import io.penstock.node.text.Json;
import io.penstock.node.text.Numbers;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The results of a sweep as a page for a browser.
///
/// @param capacities ascending
record SweepPage(List<EvictionPolicy> policies, List<Long> capacities, List<SweepResult> results) {
  static String of(String name, SweepTrace trace, Sweep sweep, List<SweepResult> results) {
    SweepPage page = new SweepPage(sweep.policies(), sweep.capacities().stream().sorted().toList(), results);
    List<Row> tiles = List.of(new Row("Requests", Numbers.of(trace.requests().size())),
        new Row("Block references", Numbers.of(trace.blockRefs())),
        new Row("Distinct blocks", Numbers.of(trace.keys().size())));
    Summary summary = new Summary("Eviction policies on " + name, page.verdict(), true, tiles, List.of(),
        List.of(page.table("Hits", result -> Numbers.of(result.hits())),
            page.table("Hit rate", result -> SweepTable.percent(result.hitRate())),
            page.table("Prefix hits", result -> Numbers.of(result.prefixHits()))));
    return ReportPage.of(summary, Json.of(page.data()), "penstock " + PenstockVersion.current());
  }

  private String verdict() {
    return capacities.stream().map(capacity -> "%s at %s".formatted(Policies.print(best(capacity).policy()),
        Numbers.of(capacity))).collect(Collectors.joining(", ", "Most hits: ", " blocks."));
  }

  private SweepResult best(long capacity) {
    return results.stream().filter(result -> result.capacity() == capacity)
        .max(Comparator.comparingLong(SweepResult::hits)).orElseThrow();
  }

  private Table table(String name, Function<SweepResult, String> cell) {
    return new Table(name, capacities.stream().map(Numbers::of).toList(), policies.stream()
        .map(policy -> new TableRow(Policies.print(policy), of(policy).stream().map(cell).toList())).toList());
  }

  private List<SweepResult> of(EvictionPolicy policy) {
    return results.stream().filter(result -> result.policy() == policy)
        .sorted(Comparator.comparingLong(SweepResult::capacity)).toList();
  }

  private ChartData data() {
    return ChartData.byBlocks("capacity in blocks", capacities.stream().map(Long::doubleValue).toList(), List.of(
        chart("hits", "Hit rate", "Blocks that were present when their turn came.", SweepResult::hitRate),
        chart("prefix", "Prefix hit rate", "Blocks of the longest prefix that was present when the request came.",
            SweepResult::prefixHitRate)));
  }

  private Chart chart(String id, String title, String about, ToDoubleFunction<SweepResult> share) {
    return new Chart(id, title, about, "% of block references", "%", false, policies.stream()
        .map(policy -> new Line(Policies.print(policy),
            of(policy).stream().<@Nullable Double>map(result -> 100 * share.applyAsDouble(result)).toList()))
        .toList());
  }
}
