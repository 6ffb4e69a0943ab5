package io.penstock.node.report;

import io.penstock.node.text.Reason;

/// Makes text of any origin harmless inside a page.
public final class Escape {
  private Escape() {}

  /// Text in a form for HTML, also for a quoted attribute. Characters that would change the direction of other text are
  /// shown as their numbers.
  public static String html(String unsafe) {
    String text = Reason.printableLines(unsafe);
    StringBuilder escaped = new StringBuilder(text.length() + 16);
    text.chars().forEach(c -> {
      switch (c) {
        case '&' -> escaped.append("&amp;");
        case '<' -> escaped.append("&lt;");
        case '>' -> escaped.append("&gt;");
        case '"' -> escaped.append("&quot;");
        case '\'' -> escaped.append("&#39;");
        default -> escaped.append((char) c);
      }
    });
    return escaped.toString();
  }

  /// JSON inside a script element: the value without a character that could end the element or begin a comment. Those
  /// characters are in strings only, where JSON has another form for them.
  static String json(String json) {
    return json.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029");
  }
}
