package io.penstock.examples.jlama;

import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.TextTable;
import java.util.Locale;

/// A [TurnsReport] for a reader.
final class TurnsTable {
  private TurnsTable() {}

  static String of(TurnsReport report) {
    TurnsRun.Settings settings = report.settings();
    TextTable table = new TextTable("TURN", "PROMPT", "NEW", "LOADED", "COMPUTED", "FIRST WITHOUT", "FIRST WITH",
        "SOONER");
    for (TurnFigures turn : report.turns()) {
      table.row(String.valueOf(turn.turn()), turn.promptTokens(), turn.newTokens(), turn.loaded(), turn.computed(),
          millis(turn.plainSeconds()), millis(turn.seconds()), times(turn.speedup()));
    }
    String setting = "%s of %s, model %s\ntokens over all conversations; median time from a prompt to its first token"
        .formatted(Plural.of(settings.conversations(), "conversation"), Plural.of(settings.turns(), "turn"),
            report.model());
    return String.join("\n", setting, "", table.toString(), loading(report), verdict(report), "");
  }

  static String loading(TurnsReport report) {
    return "a load into the engine's rows: %s, %s of what the wire brings".formatted(rate(report.loadBytesPerSecond()),
        percent(report.loadShare()));
  }

  /// How alike the answers were.
  static String verdict(TurnsReport report) {
    int answers = report.settings().conversations() * report.settings().turns();
    return "jlama: %s of %s differ, logits differ in %s".formatted(Numbers.of(report.unlikeAnswers()),
        Plural.of(answers, "answer"), Numbers.of(report.unlikeLogits()));
  }

  static String rate(double bytesPerSecond) {
    return String.format(Locale.ROOT, "%.0f MB/s", bytesPerSecond / 1e6);
  }

  static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * share);
  }

  static String millis(double seconds) {
    return String.format(Locale.ROOT, "%.1f ms", 1e3 * seconds);
  }

  static String times(double factor) {
    return String.format(Locale.ROOT, "%.1f x", factor);
  }
}
