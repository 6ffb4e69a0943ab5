package io.penstock.examples.jlama;

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

/// A [TurnsReport] as a page for a browser.
final class TurnsPage {
  private final TurnsReport report;

  private TurnsPage(TurnsReport report) {
    this.report = report;
  }

  static String of(TurnsReport report) {
    TurnsPage page = new TurnsPage(report);
    return ReportPage.of(page.summary(), Json.of(page.data()), "penstock " + PenstockVersion.current());
  }

  private Summary summary() {
    TurnFigures last = report.last();
    TurnsRun.Settings settings = report.settings();
    return new Summary("Jlama with and without a node", TurnsTable.verdict(report), report.isGood(),
        List.of(new Row("First token of the last turn, without", TurnsTable.millis(last.plainSeconds())),
            new Row("First token of the last turn, with", TurnsTable.millis(last.seconds())),
            new Row("Sooner", TurnsTable.times(last.speedup())),
            new Row("Load of what the wire brings", TurnsTable.percent(report.loadShare()))),
        List.of(new Group("Conversations", List.of(new Row("Model", report.model()),
            new Row("Conversations", Numbers.of(settings.conversations())),
            new Row("Tokens of the first question", Numbers.of(settings.firstTokens())),
            new Row("Tokens of later questions", Numbers.of(settings.turnTokens())),
            new Row("Tokens of an answer", Numbers.of(settings.answerTokens())),
            new Row("Seed", String.valueOf(settings.seed()))))),
        List.of(new Table("Tokens of prompts", List.of("prompts", "new", "loaded", "computed", "first token without",
            "first token with", "sooner"), report.turns().stream().map(TurnsPage::row).toList())));
  }

  private static TableRow row(TurnFigures turn) {
    return new TableRow("turn " + turn.turn(), Stream.concat(
        Stream.of(turn.promptTokens(), turn.newTokens(), turn.loaded(), turn.computed()).map(Numbers::of),
        Stream.of(TurnsTable.millis(turn.plainSeconds()), TurnsTable.millis(turn.seconds()),
            TurnsTable.times(turn.speedup())))
        .toList());
  }

  private ChartData data() {
    return ChartData.byTurns("turn", report.settings().turns(), List.of(
        new Chart("first", "Time to the first token", "Median over all conversations.", "ms", "ms", false,
            List.of(line("without a node", turn -> 1e3 * turn.plainSeconds()),
                line("with a node", turn -> 1e3 * turn.seconds()))),
        new Chart("tokens", "Tokens of the prompts", "Over all conversations.", "tokens", "", false, true,
            List.of(line("loaded", TurnFigures::loaded), line("computed", TurnFigures::computed)))));
  }

  private Line line(String label, ToDoubleFunction<TurnFigures> value) {
    return new Line(label, report.turns().stream().<@Nullable Double>map(value::applyAsDouble).toList());
  }
}
