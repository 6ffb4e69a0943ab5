package io.penstock.examples.conversations;

import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A [ConversationsReport] for a reader.
final class ConversationsTable {
  private ConversationsTable() {}

  static String of(ConversationsReport report) {
    Stream<String> sentences = Stream.of(evicted(report), prefill(report), loading(report), saved(report));
    return setting(report) + "\n\n" + outcome(report, report.withoutSsd()) + "\n" + outcome(report, report.withSsd())
        + Stream.of(sentences, choices(report), Stream.of(last(report))).flatMap(each -> each)
            .map(line -> "\n" + TextTable.wrapped(line, 2)).collect(Collectors.joining())
        + "\n";
  }

  private static String setting(ConversationsReport report) {
    return "%s of %s, a system prompt of %s\nhbm %s, dram %s, ssd %s, each of %s tokens and %s; policy %s".formatted(
        Plural.of(report.conversations(), "conversation"), Plural.of(report.turns(), "turn"),
        Plural.of(report.systemTokens(), "token"), Numbers.of(report.hbmBlocks()), Numbers.of(report.dramBlocks()),
        Plural.of(report.ssdBlocks(), "block"), report.blockTokens(), Sizes.exact(report.blockBytes()),
        report.policy());
  }

  private static String outcome(ConversationsReport report, Outcome outcome) {
    TextTable table = new TextTable("TURN", "BLOCKS", "HBM", "DRAM", "SSD", "SHARED", "COMPUTED", "SAVED", "SHARE",
        "TIME");
    outcome.turns().forEach(turn -> row(table, String.valueOf(turn.turn()), turn, report));
    row(table, "all", outcome.all(), report);
    return outcome.name() + ":\n" + table;
  }

  private static void row(TextTable table, String name, TurnFigures turn, ConversationsReport report) {
    Reused reused = turn.reused();
    table.row(name, turn.promptBlocks(), reused.hbm(), reused.dram(), reused.ssd(), reused.shared(),
        turn.computedBlocks(), turn.savedTokens(), percent(turn.savedShare()),
        seconds(report.seconds(turn.savedTokens())));
  }

  private static String evicted(ConversationsReport report) {
    return "evicted: %s without SSD, %s with SSD".formatted(
        Plural.of(report.withoutSsd().evictedBlocks(), "block"), Numbers.of(report.withSsd().evictedBlocks()));
  }

  /// The model of the saved time, and its results.
  static String prefill(ConversationsReport report) {
    return "prefill at %s tokens/s, which is assumed: %s if nothing is reused, %s without SSD, %s with SSD".formatted(
        Numbers.of(Math.round(report.tokensPerSecond())),
        seconds(report.seconds(report.withSsd().all().promptTokens())),
        seconds(report.seconds(report.withoutSsd().all().computedTokens())),
        seconds(report.seconds(report.withSsd().all().computedTokens())));
  }

  static String loading(ConversationsReport report) {
    return "loading what was reused took %s without SSD, %s with SSD: measured, over loopback, bytes compared"
        .formatted(
            seconds(report.withoutSsd().loadSeconds()), seconds(report.withSsd().loadSeconds()));
  }

  private static String saved(ConversationsReport report) {
    return "saved: %s of the prompt tokens without SSD, %s with SSD".formatted(
        percent(report.withoutSsd().all().savedShare()), percent(report.withSsd().all().savedShare()));
  }

  private static Stream<String> choices(ConversationsReport report) {
    return Stream.of(report.withoutSsd(), report.withSsd()).filter(outcome -> !outcome.decisions().isEmpty())
        .map(outcome -> "choice %s: %s".formatted(outcome.name(), outcome.decisions().stream()
            .collect(Collectors.groupingBy(Decision::reason, TreeMap::new, Collectors.counting())).entrySet().stream()
            .map(each -> each.getKey() + " " + Numbers.of(each.getValue())).collect(Collectors.joining(", "))));
  }

  private static String last(ConversationsReport report) {
    Outcome without = report.withoutSsd();
    Outcome with = report.withSsd();
    return "conversations: %s wrong, %s missing, %s leaked"
        .formatted(Numbers.of(without.wrongSpans() + with.wrongSpans()),
            Numbers.of(without.missingBlocks() + with.missingBlocks()), Numbers.of(without.leaked() + with.leaked()));
  }

  static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  static String seconds(double seconds) {
    return String.format(Locale.ROOT, "%.1f s", seconds);
  }
}
