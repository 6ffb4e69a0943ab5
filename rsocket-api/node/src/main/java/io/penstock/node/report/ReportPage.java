package io.penstock.node.report;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// One file of HTML: summary, charts, the data they are drawn from and the scripts that draw them. It opens from a disk
/// and loads nothing.
public final class ReportPage {
  private static final Pattern PLACE = Pattern.compile("\\{\\{(\\w+)}}");

  private ReportPage() {}

  /// The whole page.
  ///
  /// @param summary any text; it is escaped
  /// @param json the data of the charts, as `page.js` expects it; it is escaped
  /// @param generator the program that made it, with its version
  public static String of(Summary summary, String json, String generator) {
    ChartLibrary library = ChartLibrary.load();
    String pageScript = ChartLibrary.resource("page.js");
    String style = ChartLibrary.resource("page.css");
    Map<String, String> parts = new HashMap<>();
    parts.put("policy", PagePolicy.of(style, List.of(library.script(), pageScript)));
    parts.put("style", style);
    parts.put("title", Escape.html(summary.title()));
    parts.put("generator", Escape.html(generator));
    parts.put("verdict", Escape.html(summary.verdict()));
    parts.put("verdictClass", summary.isGood() ? "good" : "bad");
    parts.put("verdictMark", summary.isGood() ? "✓" : "✗");
    parts.put("tiles", all(summary.tiles(), ReportPage::tile));
    parts.put("groups", all(summary.groups(), ReportPage::group));
    parts.put("tables", all(summary.tables(), ReportPage::table));
    parts.put("data", Escape.json(json));
    parts.put("library", Escape.html(library.name()));
    parts.put("licence", library.licence());
    parts.put("chartScript", library.script());
    parts.put("pageScript", pageScript);
    return filled(ChartLibrary.resource("page.html"), parts);
  }

  /// Fills the template in one pass, so that inserted text is never searched for places.
  private static String filled(String template, Map<String, String> parts) {
    return PLACE.matcher(template).replaceAll(place -> {
      String part = parts.get(place.group(1));
      if (part == null) {
        throw new IllegalStateException("place must be known (was " + place.group() + ")");
      }
      return Matcher.quoteReplacement(part);
    });
  }

  private static <T> String all(List<T> items, Function<T, String> form) {
    return items.stream().map(form).collect(Collectors.joining());
  }

  private static String tile(Summary.Row row) {
    return "<div><dt>" + Escape.html(row.name()) + "</dt><dd>" + Escape.html(row.value()) + "</dd></div>\n";
  }

  private static String group(Summary.Group group) {
    String name = Escape.html(group.name());
    return "<div class=\"group\">\n<h3>" + name + "</h3>\n<table aria-label=\"" + name + "\">\n<tbody>\n"
        + all(group.rows(), ReportPage::row)
        + "</tbody>\n</table>\n</div>\n";
  }

  private static String table(Summary.Table table) {
    return "<div class=\"group\">\n<table class=\"figures\">\n<thead>\n<tr><th scope=\"col\">"
        + Escape.html(table.name())
        + "</th>" + all(table.columns(), column -> "<th scope=\"col\">" + Escape.html(column) + "</th>")
        + "</tr>\n</thead>\n<tbody>\n" + all(table.rows(), ReportPage::row) + "</tbody>\n</table>\n</div>\n";
  }

  private static String row(Summary.TableRow row) {
    return "<tr><th scope=\"row\">" + Escape.html(row.name()) + "</th>"
        + all(row.values(), value -> "<td>" + Escape.html(value) + "</td>") + "</tr>\n";
  }

  private static String row(Summary.Row row) {
    return "<tr><th scope=\"row\">" + Escape.html(row.name()) + "</th><td>" + Escape.html(row.value()) + "</td></tr>\n";
  }
}
