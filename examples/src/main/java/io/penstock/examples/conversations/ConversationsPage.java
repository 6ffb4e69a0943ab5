package io.penstock.examples.conversations;

import io.penstock.PenstockVersion;
import io.penstock.node.report.ChartData;
import io.penstock.node.report.ChartData.Chart;
import io.penstock.node.report.ChartData.Line;
import io.penstock.node.report.ReportPage;
import io.penstock.node.report.Summary;
import io.penstock.node.report.Summary.Group;
import io.penstock.node.report.Summary.Row;
import io.penstock.node.report.Summary.Table;
import io.penstock.node.report.Summary.TableRow;
import io.penstock.node.text.Json;
import io.penstock.node.text.Numbers;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A [ConversationsReport] as a page for a browser.
final class ConversationsPage {
  private final ConversationsReport report;

  private ConversationsPage(ConversationsReport report) {
    this.report = report;
  }

  static String of(ConversationsReport report) {
    ConversationsPage page = new ConversationsPage(report);
    return ReportPage.of(page.summary(), Json.of(page.data()), "penstock " + PenstockVersion.current());
  }

  private Summary summary() {
    List<Row> tiles = List.of(row("Prefill tokens saved without SSD", saved(report.withoutSsd())),
        row("Prefill tokens saved with SSD", saved(report.withSsd())),
        row("Prefill time saved without SSD", ConversationsTable.seconds(report.withoutSsd().savedSeconds())),
        row("Prefill time saved with SSD", ConversationsTable.seconds(report.withSsd().savedSeconds())));
    List<Group> groups = List.of(
        new Group("Conversations", List.of(row("Conversations", Numbers.of(report.conversations())),
            row("Turns of each", Numbers.of(report.turns())),
            row("Tokens of the system prompt", Numbers.of(report.systemTokens())),
            row("Seed", String.valueOf(report.seed())))),
        new Group("Nodes", List.of(row("Blocks in hbm", Numbers.of(report.hbmBlocks())),
            row("Blocks in dram", Numbers.of(report.dramBlocks())),
            row("Blocks on ssd, of the second node", Numbers.of(report.ssdBlocks())),
            row("Policy", report.policy()))),
        new Group("Time", List.of(
            row("Prefill, assumed", Numbers.of(Math.round(report.tokensPerSecond())) + " tokens/s"),
            row("Loading without SSD, measured", ConversationsTable.seconds(report.withoutSsd().loadSeconds())),
            row("Loading with SSD, measured", ConversationsTable.seconds(report.withSsd().loadSeconds())))));
    return new Summary("Conversations with a shared system prompt", verdict(), report.isGood(), tiles, groups,
        List.of(table(report.withoutSsd()), table(report.withSsd())));
  }

  private static Row row(String name, String value) {
    return new Row(name, value);
  }

  private static String saved(Outcome outcome) {
    return ConversationsTable.percent(outcome.all().savedShare());
  }

  private String verdict() {
    return report.isGood()
        ? "Every block that was reused had the bytes that were put, and nothing leaked."
        : "Some blocks were wrong or missing, or something leaked.";
  }

  private static Table table(Outcome outcome) {
    return new Table("Blocks " + outcome.name(), List.of("prompts", "hbm", "dram", "ssd", "shared", "computed"),
        Stream.concat(outcome.turns().stream(), Stream.of(outcome.all())).map(ConversationsPage::tableRow).toList());
  }

  private static TableRow tableRow(TurnFigures turn) {
    Reused reused = turn.reused();
    return new TableRow(turn.turn() == 0 ? "all" : "turn " + turn.turn(),
        Stream.of(turn.promptBlocks(), reused.hbm(), reused.dram(), reused.ssd(), reused.shared(),
            turn.computedBlocks()).map(Numbers::of).toList());
  }

  private ChartData data() {
    return ChartData.byTurns("turn", report.turns(), List.of(
        new Chart("time", "Prefill time",
            "Over all conversations, at the assumed speed of a prefill; loading is not counted.", "s", "s", false,
            List.of(line("nothing reused", report.withSsd(), turn -> report.seconds(turn.promptTokens())),
                prefill(report.withoutSsd()), prefill(report.withSsd()))),
        blocks("without", report.withoutSsd()), blocks("with", report.withSsd()),
        new Chart("share", "Prefill tokens saved", "Share of the tokens of the prompts that no prefill computed.",
            "% of prompt tokens", "%", false, List.of(share(report.withoutSsd()), share(report.withSsd())))));
  }

  private static Chart blocks(String id, Outcome outcome) {
    return new Chart(id, "Tiers that the blocks of the prompts came from, " + outcome.name(),
        "Over all conversations. Shared: the system prompt, computed by one conversation at the start.", "blocks", "",
        false, true,
        List.of(line("hbm", outcome, turn -> turn.reused().hbm()), line("dram", outcome, turn -> turn.reused().dram()),
            line("ssd", outcome, turn -> turn.reused().ssd()),
            line("shared", outcome, turn -> turn.reused().shared()),
            line("computed", outcome, TurnFigures::computedBlocks)));
  }

  private static Line share(Outcome outcome) {
    return line(outcome.name(), outcome, turn -> 100 * turn.savedShare());
  }

  private Line prefill(Outcome outcome) {
    return line(outcome.name(), outcome, turn -> report.seconds(turn.computedTokens()));
  }

  private static Line line(String label, Outcome outcome, ToDoubleFunction<TurnFigures> value) {
    return new Line(label, outcome.turns().stream().<@Nullable Double>map(value::applyAsDouble).toList());
  }
}
