package io.penstock.node.plan;

import io.penstock.node.report.Escape;

/// Text in a picture. No font is known where the picture is made, so widths are estimated, on the large side.
final class SvgText {
  private static final double WIDEST_LETTER = 0.62;
  /// First character that is as wide as it is high: letters of East Asia, and symbols.
  private static final int FULL_WIDTH = 0x2e80;

  private SvgText() {}

  /// A text element whose text is not wider than `width`.
  ///
  /// @param style class of the text
  /// @param size of its letters
  static String of(String style, double x, double y, double size, double width, String text) {
    return "<text class=\"%s\" x=\"%.0f\" y=\"%.0f\" font-size=\"%.0f\">%s</text>%n".formatted(style, x, y, size,
        Escape.html(fitted(text, width, size)));
  }

  /// The text, or its beginning and `…` if it is wider than `width`.
  static String fitted(String text, double width, double size) {
    if (width(text, size) <= width) {
      return text;
    }
    double left = width - size;
    StringBuilder shortened = new StringBuilder();
    for (int letter : text.codePoints().toArray()) {
      left -= width(letter, size);
      if (left < 0) {
        break;
      }
      shortened.appendCodePoint(letter);
    }
    return shortened.append('…').toString();
  }

  static double width(String text, double size) {
    return text.codePoints().mapToDouble(letter -> width(letter, size)).sum();
  }

  private static double width(int letter, double size) {
    return letter >= FULL_WIDTH ? size : WIDEST_LETTER * size;
  }
}
