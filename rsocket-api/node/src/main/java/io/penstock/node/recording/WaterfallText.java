package io.penstock.node.recording;

import io.penstock.node.play.PlayText;
import io.penstock.node.recording.Waterfall.Bar;
import io.penstock.node.recording.Waterfall.Cause;
import io.penstock.node.report.Escape;
import io.penstock.node.text.TextTable;
import java.util.Locale;
import java.util.Map;

/// A waterfall as text, as a picture, and as a page.
final class WaterfallText {
  private static final int COLUMNS = 40;
  private static final int ROW = 20;
  private static final int LABEL = 210;
  private static final int WIDTH = 760;
  private static final int NOTE = 190;
  private static final int HEAD = 34;
  private static final String STYLE =
      "text{font:12px sans-serif;fill:#1b1f24}.axis{stroke:#c6ccd3}.lease{fill:#6b7280}.window{fill:#9db7d5}"
          + ".slices{fill:#2f6fab}.read{fill:#d1762c}.write{fill:#e5b27e}.put{fill:#6a9f58}.mark{stroke:#0b2239}";

  private WaterfallText() {}

  static String title(Waterfall waterfall) {
    return "request %d, flow %d, of %s: %d blocks, %d hits, %s from its lease to its last slice".formatted(
        waterfall.request(), waterfall.flow(), waterfall.recording(), waterfall.blocks(), waterfall.hits(),
        PlayText.millis(waterfall.nanos()));
  }

  private static String meaning(Cause cause) {
    return switch (cause) {
      case READER -> "the reader had requested nothing";
      case STORE -> "a store read its blocks";
      case PUT -> "its blocks were being put";
      case TIER -> "the tier had neither room nor a turn for it";
    };
  }

  static String text(Waterfall waterfall) {
    StringBuilder text = new StringBuilder(title(waterfall)).append('\n');
    TextTable table = new TextTable("WHAT", "FROM ms", "FOR ms", "WHEN", "");
    for (Bar bar : waterfall.bars()) {
      table.row(bar.name(), millis(bar.start()), millis(bar.end() - bar.start()), line(waterfall, bar), bar.note());
    }
    text.append(table);
    waterfall.waits().forEach((cause, nanos) -> text.append("%5.1f %%  %12s  %s%n".formatted(
        share(nanos, waterfall.nanos()), PlayText.millis(nanos), meaning(cause))));
    return text.toString().stripTrailing();
  }

  private static double share(long nanos, long all) {
    return all == 0 ? 0 : 100.0 * nanos / all;
  }

  private static String millis(long nanos) {
    return String.format(Locale.ROOT, "%.3f", nanos / 1e6);
  }

  private static String line(Waterfall waterfall, Bar bar) {
    int from = column(bar.start(), waterfall.nanos());
    int to = Math.max(from + 1, column(bar.end(), waterfall.nanos()));
    char[] line = "·".repeat(COLUMNS).toCharArray();
    for (int i = from; i < Math.min(to, COLUMNS); i++) {
      line[i] = switch (bar.lane()) {
        case READ -> '▓';
        case WRITE, PUT -> '░';
        default -> '█';
      };
    }
    return new String(line);
  }

  private static int column(long nanos, long all) {
    return all == 0 ? 0 : (int) Math.min(COLUMNS - 1, nanos * (double) COLUMNS / all);
  }

  /// The picture, which stands alone.
  static String svg(Waterfall waterfall) {
    int height = HEAD + ROW * waterfall.bars().size() + 10;
    StringBuilder svg = new StringBuilder();
    svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%1$d\" height=\"%2$d\""
        .formatted(LABEL + WIDTH + NOTE, height)).append(" role=\"img\" aria-label=\"")
        .append(Escape.html(title(waterfall))).append("\">\n<style>").append(STYLE).append("</style>\n");
    for (int tenth = 0; tenth <= 10; tenth += 2) {
      double x = LABEL + WIDTH * tenth / 10.0;
      svg.append("<line class=\"axis\" x1=\"%s\" y1=\"%d\" x2=\"%1$s\" y2=\"%d\"/>\n".formatted(number(x), HEAD - 6,
          height - 6));
      svg.append("<text x=\"%s\" y=\"16\" text-anchor=\"middle\">%s ms</text>\n".formatted(number(x),
          String.format(Locale.ROOT, "%.1f", waterfall.nanos() * tenth / 10.0 / 1e6)));
    }
    int y = HEAD;
    for (Bar bar : waterfall.bars()) {
      double from = x(bar.start(), waterfall.nanos());
      double to = Math.max(from + 1.5, x(bar.end(), waterfall.nanos()));
      String name = Escape.html(bar.name());
      svg.append("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n".formatted(LABEL - 8, y + 13, name));
      svg.append(
          "<rect class=\"%s\" x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\"><title>%s: %s ms to %s ms</title></rect>\n"
              .formatted(bar.lane().name().toLowerCase(Locale.ROOT), number(from), y + 2, number(to - from), ROW - 6,
                  name,
                  millis(bar.start()), millis(bar.end())));
      for (long mark : bar.marks()) {
        double x = x(mark, waterfall.nanos());
        svg.append("<line class=\"mark\" x1=\"%s\" y1=\"%d\" x2=\"%1$s\" y2=\"%d\"/>\n".formatted(number(x), y + 2,
            y + ROW - 4));
      }
      svg.append("<text x=\"%s\" y=\"%d\">%s</text>\n".formatted(number(Math.max(to, LABEL) + 5), y + 13,
          Escape.html(bar.note())));
      y += ROW;
    }
    return svg.append("</svg>\n").toString();
  }

  private static double x(long nanos, long all) {
    return LABEL + (all == 0 ? 0 : WIDTH * (double) nanos / all);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  /// A page with the picture and its figures. It loads nothing and runs no script.
  static String html(Waterfall waterfall) {
    return page(title(waterfall), "<h1>One request</h1>\n" + section(waterfall, 2));
  }

  /// The picture of a request and its figures.
  ///
  /// @param level of its headings
  static String section(Waterfall waterfall, int level) {
    StringBuilder rows = new StringBuilder();
    for (Map.Entry<Cause, Long> wait : waterfall.waits().entrySet()) {
      rows.append("<tr><td>%s</td><td>%s ms</td><td>%.1f %%</td></tr>%n".formatted(
          Escape.html(meaning(wait.getKey())), millis(wait.getValue()), share(wait.getValue(), waterfall.nanos())));
    }
    StringBuilder bars = new StringBuilder();
    for (Bar bar : waterfall.bars()) {
      bars.append("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>%n".formatted(Escape.html(bar.name()),
          millis(bar.start()), millis(bar.end() - bar.start()), Escape.html(bar.note())));
    }
    return """
        <p>%1$s</p>
        %2$s<h%5$d>What it waited for</h%5$d>
        <table><tbody>
        %3$s</tbody></table>
        <h%5$d>What happened</h%5$d>
        <table><thead><tr><th>what</th><th>from, ms</th><th>for, ms</th><th></th></tr></thead><tbody>
        %4$s</tbody></table>
        """.formatted(Escape.html(title(waterfall)), svg(waterfall), rows, bars, level);
  }

  /// A page that loads nothing and runs no script.
  ///
  /// @param title any text; it is escaped
  /// @param body HTML
  static String page(String title, String body) {
    return """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <title>%s</title>
        <style>
        body{font:15px sans-serif;margin:2em}
        svg{max-width:100%%;height:auto}
        td,th{padding:.2em 1em;text-align:left}
        </style>
        </head>
        <body>
        %s</body>
        </html>
        """
        .formatted(Escape.html(title), body);
  }
}
