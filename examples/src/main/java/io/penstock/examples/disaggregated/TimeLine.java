package io.penstock.examples.disaggregated;

import io.penstock.examples.disaggregated.node.LayerTime;
import io.penstock.examples.disaggregated.node.LayerTime.What;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// Draws when each layer of a request was computed, waited for and transferred: a row a layer. The layers of the draft
/// head come after those of the model.
final class TimeLine {
  private static final int COLUMNS = 72;
  private static final int ROW = 22;
  /// Rows above the first layer.
  private static final int HEAD = 2;
  private static final int LEFT = 90;
  private static final int WIDTH = 760;

  private final List<LayerTime> times;
  private final long end;
  private final int layers;
  private final int modelLayers;

  /// @param modelLayers layers of the model without its draft head
  TimeLine(List<LayerTime> times, int modelLayers) {
    this.times = List.copyOf(times);
    this.modelLayers = modelLayers;
    this.end = Math.max(1, times.stream().mapToLong(LayerTime::endMicros).max().orElse(1));
    this.layers = times.stream().mapToInt(LayerTime::layer).max().orElse(-1) + 1;
  }

  /// Lines of text.
  String text() {
    StringBuilder text = new StringBuilder("%-9s|%s| %.1f ms%n".formatted("", centred("█ compute  · wait  ▒ transfer"),
        end / 1e3));
    for (int layer = 0; layer < layers; layer++) {
      text.append("%-9s|%s|%n".formatted(label(layer), row(layer)));
    }
    return text.toString();
  }

  private String label(int layer) {
    return layer < modelLayers ? "layer " + layer : layer == modelLayers ? "draft" : "draft " + (layer - modelLayers);
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

  /// An image.
  ///
  /// @param prefill first line of the title
  /// @param decode second line
  String svg(String prefill, String decode) {
    int height = (layers + HEAD + 2) * ROW;
    String rows = times.stream().map(this::bar).collect(Collectors.joining());
    StringBuilder labels = new StringBuilder();
    for (int layer = 0; layer < layers; layer++) {
      labels.append("<text x=\"8\" y=\"%d\">%s</text>%n".formatted((layer + HEAD + 1) * ROW - 6,
          label(layer)));
    }
    return """
        <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">
        <rect width="100%%" height="100%%" fill="white"/>
        <text x="8" y="16" font-weight="bold">%s</text>
        <text x="8" y="34" font-weight="bold">%s</text>
        %s%s%s<text x="%d" y="%d" text-anchor="end">%.1f ms</text>
        </svg>
        """.formatted(LEFT + WIDTH + 20, height, escaped(prefill), escaped(decode), labels, rows, legend(),
        LEFT + WIDTH, height - 6, end / 1e3);
  }

  private String bar(LayerTime time) {
    double x = LEFT + (double) WIDTH * time.startMicros() / end;
    double width = Math.max(1.5, (double) WIDTH * (time.endMicros() - time.startMicros()) / end);
    return String.format(Locale.ROOT,
        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>%s, %s: %.2f to %.2f ms"
            + "</title></rect>%n",
        x, (time.layer() + HEAD) * ROW + 3, width, ROW - 6, time.what().colour(), name(time.what()),
        label(time.layer()),
        time.startMicros() / 1e3, time.endMicros() / 1e3);
  }

  private String legend() {
    StringBuilder legend = new StringBuilder();
    int x = LEFT;
    for (What what : What.values()) {
      int y = (layers + HEAD + 1) * ROW;
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
