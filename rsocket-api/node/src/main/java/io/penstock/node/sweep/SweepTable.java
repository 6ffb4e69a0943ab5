package io.penstock.node.sweep;

import io.penstock.node.config.Policies;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.TextTable;
import io.penstock.node.trace.TraceTotals;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The results of a sweep as text: what the trace is, one line for each policy and capacity, and the ceiling.
final class SweepTable {
  /// One sentence about what lies beyond the knee.
  static final String KNEE = "Memory beyond it brings fewer hits a block than all of the blocks do on average.";

  private SweepTable() {}

  static String of(SweepOutcome outcome) {
    ModelSize size = outcome.size();
    TraceTotals totals = outcome.totals();
    TextTable table = new TextTable("POLICY", "BLOCKS", "SIZE", "HITS", "RATE", "PREFIX", "TOKENS", "PREFILL");
    outcome.results().forEach(result -> table.row(Policies.print(result.policy()), result.capacity(),
        size.gib(result.capacity()), result.hits(), percent(result.hitRate()), percent(result.prefixHitRate()),
        ModelSize.tokensText(result.tokensReused()), seconds(size, result.tokensReused())));
    table.row("(ceiling)", totals.distinctBlocks(), size.gib(totals.distinctBlocks()), totals.ceilingHits(),
        percent(totals.ceiling()), percent(totals.prefixCeiling()), ModelSize.tokensText(totals.reusableTokens()),
        seconds(size, totals.reusableTokens()));
    return Stream.of(trace(outcome), legend(outcome)).map(line -> TextTable.wrapped(line, 0) + "\n")
        .collect(Collectors.joining("", "", "\n")) + table
        + outcome.knee()
            .map(knee -> "\n" + TextTable.wrapped("Knee of LRU: " + knee.words(size) + ". " + KNEE, 0) + "\n")
            .orElse("");
  }

  private static String trace(SweepOutcome outcome) {
    TraceTotals totals = outcome.totals();
    return "%s: %s, %s to %s, %s of prompts. Model: %s.".formatted(outcome.trace(),
        Plural.of(totals.requests(), "request"), Plural.of(totals.references(), "reference"),
        Plural.of(totals.distinctBlocks(), "block"), tokens(totals.promptTokens()), outcome.size().words());
  }

  private static String legend(SweepOutcome outcome) {
    ModelSize size = outcome.size();
    return "PREFIX and TOKENS count the prefixes that an engine can reuse. PREFILL is the time that they save at "
        + size.rateText() + ", of %s for all prompts. The ceiling is a cache without a bound.".formatted(
            seconds(size, outcome.totals().promptTokens()));
  }

  private static String tokens(long tokens) {
    return tokens < 1e6 ? Plural.of(tokens, "token") : ModelSize.tokensText(tokens) + " tokens";
  }

  private static String seconds(ModelSize size, long tokens) {
    return ModelSize.secondsText(size.seconds(tokens));
  }

  static String percent(double share) {
    return String.format(Locale.ROOT, "%.2f %%", 100 * share);
  }

  static String capacity(SweepOutcome outcome, long blocks) {
    return Numbers.of(blocks) + " = " + outcome.size().gib(blocks);
  }
}
