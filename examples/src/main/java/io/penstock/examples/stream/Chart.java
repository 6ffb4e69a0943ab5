package io.penstock.examples.stream;

import io.penstock.node.text.Sizes;
import java.util.ArrayList;
import java.util.List;

/// Bars in a terminal: a figure over time, under the line that it must not cross.
final class Chart {
  private static final String EIGHTHS = " ▁▂▃▄▅▆▇█";
  private static final int LABEL = 10;

  private final int width;
  private final int height;

  Chart(int width, int height) {
    this.width = width;
    this.height = height;
  }

  /// Draws the newest values that fit, oldest left; the line on top is `limit`.
  List<String> draw(List<Long> values, long limit) {
    List<Long> shown = values.subList(Math.max(0, values.size() - width), values.size());
    List<String> lines = new ArrayList<>(height + 1);
    lines.add(label(Sizes.human(limit)) + "┄".repeat(width) + " limit");
    for (int row = height - 1; row >= 0; row--) {
      lines.add(label(row == 0 ? "0" : "") + bars(shown, limit, row));
    }
    return lines;
  }

  private String bars(List<Long> values, long limit, int row) {
    StringBuilder line = new StringBuilder(width);
    for (long value : values) {
      long eighths = Math.ceilDiv(value * 8 * height, limit) - 8L * row;
      line.append(EIGHTHS.charAt(Math.clamp(eighths, 0, 8)));
    }
    return line.toString();
  }

  private static String label(String text) {
    return " ".repeat(Math.max(0, LABEL - text.length())) + text + " ";
  }
}
