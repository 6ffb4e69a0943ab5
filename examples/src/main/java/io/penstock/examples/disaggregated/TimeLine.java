package io.penstock.examples.disaggregated;

import io.penstock.examples.disaggregated.LayerTime.What;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// Draws when each layer of a request was computed, waited for and transferred: a row a layer.
final class TimeLine {
  private static final int COLUMNS = 72;
  private static final int ROW = 22;
  private static final int LEFT = 90;
  private static final int WIDTH = 760;

  private final List<LayerTime> times;
  private final long end;
  private final int layers;

  TimeLine(List<LayerTime> times) {
    this.times = List.copyOf(times);
    this.end = Math.max(1, times.stream().mapToLong(LayerTime::endMicros).max().orElse(1));
    this.layers = times.stream().mapToInt(LayerTime::layer).max().orElse(-1) + 1;
  }

  /// Lines of text.
  String text() {
    StringBuilder text = new StringBuilder("%-9s|%s| %.1f ms%n".formatted("", centred("█ compute  · wait  ▒ transfer"),
        end / 1e3));
    for (int layer = 0; layer < layers; layer++) {
      text.append("%-9s|%s|%n".formatted("layer " + layer, row(layer)));
    }
    return text.toString();
  }

  private static String centred(String legend) {
    int left = (COLUMNS - legend.length()) / 2;
    return " ".repeat(left) + legend + " ".repeat(COLUMNS - left - legend.length());
  }

  private String row(int layer) {
    char[] row = " ".repeat(COLUMNS).toCharArray();
    for (LayerTime time : of(layer)) {
      int from = (int) (time.startMicros() * (COLUMNS - 1) / end);
      int to = (int) (time.endMicros() * (COLUMNS - 1) / end);
      for (int column = from; column <= to; column++) {
        row[column] = time.what() == What.WAIT && row[column] != ' ' ? row[column] : time.what().mark();
      }
    }
    return new String(row);
  }

  private List<LayerTime> of(int layer) {
    return times.stream().filter(time -> time.layer() == layer).toList();
  }

  /// An image with a title.
  String svg(String title) {
    int height = (layers + 3) * ROW;
    String rows = times.stream().map(this::bar).collect(Collectors.joining());
    StringBuilder labels = new StringBuilder();
    for (int layer = 0; layer < layers; layer++) {
      labels.append("<text x=\"8\" y=\"%d\">layer %d</text>%n".formatted((layer + 2) * ROW - 6, layer));
    }
    return """
        <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">
        <rect width="100%%" height="100%%" fill="white"/>
        <text x="8" y="16" font-weight="bold">%s</text>
        %s%s%s<text x="%d" y="%d" text-anchor="end">%.1f ms</text>
        </svg>
        """.formatted(LEFT + WIDTH + 20, height, escaped(title), labels, rows, legend(), LEFT + WIDTH, height - 6,
        end / 1e3);
  }

  private String bar(LayerTime time) {
    double x = LEFT + (double) WIDTH * time.startMicros() / end;
    double width = Math.max(1.5, (double) WIDTH * (time.endMicros() - time.startMicros()) / end);
    return String.format(Locale.ROOT,
        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>%s, layer %d: %.2f to %.2f ms"
            + "</title></rect>%n",
        x, (time.layer() + 1) * ROW + 3, width, ROW - 6, time.what().colour(), name(time.what()), time.layer(),
        time.startMicros() / 1e3, time.endMicros() / 1e3);
  }

  private String legend() {
    StringBuilder legend = new StringBuilder();
    int x = LEFT;
    for (What what : What.values()) {
      int y = (layers + 2) * ROW;
      legend
          .append("<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"14\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>%n"
              .formatted(x, y, what.colour(), x + 20, y + 12, name(what)));
      x += 110;
    }
    return legend.toString();
  }

  private static String name(What what) {
    return what.name().toLowerCase(Locale.ROOT);
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;");
  }
}
