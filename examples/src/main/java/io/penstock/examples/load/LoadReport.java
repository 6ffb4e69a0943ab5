package io.penstock.examples.load;

import io.penstock.node.text.TextTable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/// What a load showed.
///
/// @param requests that were sent
/// @param errors answers that told an error, refusals among them
/// @param truncated answers that look like successes and are none
/// @param wrong answers that the model in one process does not give; -1 if they were not compared
/// @param tokensPerSecond of all answers
/// @param firstToken milliseconds from a request to its first text
/// @param perToken milliseconds of a token after the first one, the mean of each answer: tokens that are read together
///   came one after the other
/// @param hitRates part of the prompt's tokens that was cached, turn by turn
/// @param reasons number of errors by their text
record LoadReport(int requests, int errors, int truncated, int wrong, double tokensPerSecond, Percentiles firstToken,
    Percentiles perToken, List<Double> hitRates, Map<String, Integer> reasons) {
  private static final int REASON_CHARS = 120;

  /// @param p50 milliseconds
  record Percentiles(double p50, double p90, double p99, double max) {
    private static final double NANOS = 1e6;

    static Percentiles of(Histogram histogram) {
      return new Percentiles(histogram.getValueAtPercentile(50) / NANOS, histogram.getValueAtPercentile(90) / NANOS,
          histogram.getValueAtPercentile(99) / NANOS, histogram.getMaxValue() / NANOS);
    }
  }

  LoadReport {
    hitRates = List.copyOf(hitRates);
    reasons = Map.copyOf(reasons);
  }

  static LoadReport of(LoadPlan plan, LoadRun.Outcome outcome, int wrong) {
    Histogram first = new Histogram(3);
    Histogram each = new Histogram(3);
    long[] prompt = new long[plan.turns()];
    long[] cached = new long[plan.turns()];
    long tokens = 0;
    int errors = 0;
    int truncated = 0;
    Map<String, Integer> reasons = new HashMap<>();
    for (LoadRun.Turn turn : outcome.turns()) {
      ChatReply reply = turn.reply();
      truncated += reply.isTruncated() ? 1 : 0;
      if (reply.error() != null) {
        errors++;
        reasons.merge(reply.status() + " " + reply.error().substring(0, Math.min(REASON_CHARS,
            reply.error().length())), 1, Integer::sum);
      }
      if (reply.isWhole()) {
        first.recordValue(Math.max(0, reply.firstNanos()));
        if (reply.tokens() > 1) {
          each.recordValue(Math.max(0, reply.restNanos()) / (reply.tokens() - 1));
        }
        prompt[turn.number()] += reply.promptTokens();
        cached[turn.number()] += reply.cachedTokens();
        tokens += reply.tokens();
      }
    }
    List<Double> hits = new ArrayList<>();
    for (int turn = 0; turn < prompt.length; turn++) {
      hits.add(prompt[turn] == 0 ? 0 : (double) cached[turn] / prompt[turn]);
    }
    return new LoadReport(outcome.turns().size(), errors, truncated, wrong, tokens * 1e9 / outcome.nanos(),
        Percentiles.of(first), Percentiles.of(each), hits, reasons);
  }

  /// Whether every answer came, whole, and was right.
  boolean isGood() {
    return errors == 0 && truncated == 0 && wrong <= 0;
  }

  /// For a reader.
  String table() {
    return new TextTable("MILLISECONDS", "p50", "p90", "p99", "max").row(row("first token", firstToken))
        .row(row("per token", perToken)) + "\n" + hits("cached") + sum("load");
  }

  /// For a reader: two passes, one with the cache and one without.
  static String table(LoadReport with, LoadReport without) {
    return new TextTable("MILLISECONDS", "p50", "p90", "p99", "max")
        .row(row("first token, with the cache", with.firstToken))
        .row(row("first token, without", without.firstToken))
        .row(row("per token, with the cache", with.perToken))
        .row(row("per token, without", without.perToken)) + "\n" + with.hits("cached") + with.sum("with the cache")
        + without.sum("without");
  }

  private String hits(String title) {
    StringBuilder text = new StringBuilder(title).append(':');
    for (int turn = 0; turn < hitRates.size(); turn++) {
      text.append(String.format(Locale.ROOT, " turn %d %.0f %%", turn + 1, 100 * hitRates.get(turn)));
    }
    return text.append('\n').toString();
  }

  private String sum(String title) {
    StringBuilder text = new StringBuilder(String.format(Locale.ROOT,
        "%s: %d requests, %.0f tokens/s, %d errors, %d truncated, %s%n", title, requests, tokensPerSecond, errors,
        truncated, wrong < 0 ? "not compared" : wrong + " wrong"));
    reasons.forEach((reason, count) -> text.append(count).append(" × ").append(reason).append('\n'));
    return text.toString();
  }

  private static Object[] row(String name, Percentiles values) {
    return new Object[] {name, millis(values.p50()), millis(values.p90()), millis(values.p99()),
      millis(values.max())};
  }

  private static String millis(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
