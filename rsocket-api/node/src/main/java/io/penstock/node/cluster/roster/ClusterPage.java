package io.penstock.node.cluster.roster;

import io.penstock.node.report.Escape;
import io.penstock.node.report.PagePolicy;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A cluster as one file of HTML. It loads nothing, has no script, and a browser asks for it again each
/// [#AGAIN_SECONDS].
///
/// @param sight that is shown; any text in it is escaped
record ClusterPage(ClusterSight sight) {
  private static final int AGAIN_SECONDS = 5;
  private static final String STYLE = """
      :root {
        color-scheme: light dark;
        --page: light-dark(#f6f7f9, #12161b); --card: light-dark(#ffffff, #1b2129);
        --text: light-dark(#1a2027, #e6e9ed); --quiet: light-dark(#55606c, #a3adb8);
        --rule: light-dark(#d9dee4, #353e49); --good: light-dark(#05603a, #6fd6a5);
        --bad: light-dark(#a4161a, #ff9d97); --blue: light-dark(#0067a5, #62b6ee);
      }
      body {
        margin: 0 auto; padding: 1.5rem clamp(1rem, 3vw, 2.5rem); max-width: 1440px;
        background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif;
      }
      h1 { margin: 0; font-size: 1.55rem; overflow-wrap: anywhere; }
      h2 { margin: 1.75rem 0 .5rem; font-size: 1.15rem; }
      p { margin: .25rem 0; }
      .over, footer { color: var(--quiet); font-size: .85rem; }
      .verdict { font-weight: 600; }
      .good { color: var(--good); }
      .bad { color: var(--bad); }
      .card { background: var(--card); border: 1px solid var(--rule); border-radius: .6rem; overflow-x: auto; }
      table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
      th, td { padding: .3rem 1rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
      thead th { color: var(--quiet); font-weight: 400; white-space: nowrap; }
      tbody tr { border-top: 1px solid var(--rule); }
      .number { text-align: right; white-space: nowrap; }
      .quiet { color: var(--quiet); font-size: .85rem; }
      svg { display: block; width: 100%; min-width: 8rem; height: .55rem; }
      .whole { fill: var(--rule); }
      .part { fill: var(--blue); }
      .full { fill: var(--bad); }
      footer { margin-top: 1.5rem; }
      """;
  private static final double FULL = 0.95;

  @Override
  public String toString() {
    String name = "Cluster " + sight.roster().cluster();
    return """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="%s">
        <meta http-equiv="refresh" content="%d">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <title>%s</title>
        <style>%s</style>
        </head>
        <body>
        <header>
        <p class="over">Penstock</p>
        <h1>%s</h1>
        %s</header>
        <main>
        %s%s%s</main>
        <footer><p>As %s sees it. %s It asks again each %d s; <a href="/cluster.json">/cluster.json</a> has the same for
        machines.</p></footer>
        </body>
        </html>
        """.formatted(PagePolicy.of(STYLE, List.of()), AGAIN_SECONDS, Escape.html(name), STYLE, Escape.html(name),
        totals(), found(), members(), tasks(), Escape.html(sight.node()), asked(), AGAIN_SECONDS);
  }

  private String totals() {
    Roster.Totals totals = sight.roster().totals();
    int found = sight.findings().size();
    boolean isGood = found == 0 && totals.members() > 0;
    String verdict = totals.members() == 0
        ? "this node is no member now"
        : isGood ? "nothing is wrong" : Plural.of(found, "finding");
    return "<p class=\"verdict %s\"><span aria-hidden=\"true\">%s</span> %s</p>\n<p>%s%s; %s of %s, %s in flight</p>\n"
        .formatted(isGood ? "good" : "bad", isGood ? "✓" : "✗", verdict, Plural.of(totals.members(), "member"),
            totals.draining() == 0 ? "" : ", " + totals.draining() + " draining", Sizes.human(totals.bytes()),
            capacity(totals.capacityBytes()), Sizes.human(totals.inFlightBytes()));
  }

  private String asked() {
    int members = sight.roster().totals().members();
    return sight.asked() < members
        ? "Of %s, %s answered in time, or failed to.".formatted(Plural.of(members, "member"),
            Numbers.of(sight.asked()))
        : "All members were asked.";
  }

  private String found() {
    return sight.findings().isEmpty()
        ? ""
        : table("What is wrong", List.of("Member", "Finding", "What to do"), sight.findings(),
            finding -> cells(finding.node(), finding.what(), finding.help()));
  }

  private String members() {
    return table("Members", List.of("Member", "Place", "State", "Bytes of capacity", "In flight", "Told"),
        sight.roster().members(), this::member);
  }

  private String member(Roster.Entry member) {
    Long capacity = member.capacityBytes();
    double part = capacity == null ? 0 : member.bytes() / (double) Math.max(1, capacity);
    return "<td>%s<div class=\"quiet\">%s, generation %d</div></td>%s<td>%s%s</td>%s%s".formatted(
        Escape.html(member.name()), Escape.html(String.join(", ", member.endpoints())), member.generation(),
        cells(member.place(), member.state()), bar(part, part > FULL),
        Sizes.human(member.bytes()) + " of " + capacity(capacity), number(Sizes.human(member.inFlightBytes())),
        number(ago(sight.toldAgo(member.name()))));
  }

  private String tasks() {
    return sight.tasks().isEmpty()
        ? ""
        : table("Tasks", List.of("Task", "Kind", "State", "Progress", "Bytes", "Of", "Problem"), sight.tasks(),
            ClusterPage::task);
  }

  private static String task(Tasks.Shown task) {
    boolean isRunning = task.state().equals("running");
    double part = isRunning ? task.blocks() / (double) Math.max(1, task.blocks() + task.left()) : 1;
    return "%s<td>%s%s</td>%s%s".formatted(cells(task.id(), task.kind(), task.state()), bar(part, false),
        Plural.of(task.blocks(), "block") + (task.left() == 0 ? "" : ", " + Numbers.of(task.left()) + " left"),
        number(Sizes.human(task.bytes())), cells(subject(task), task.problem()));
  }

  private static String subject(Tasks.Shown task) {
    return (task.pattern().isEmpty() ? "all" : task.pattern()) + (task.to().isEmpty() ? "" : ", to " + task.to());
  }

  private static <T> String table(String title, List<String> columns, List<T> rows, Function<T, String> cells) {
    return """
        <h2>%s</h2>
        <div class="card"><table aria-label="%s">
        <thead><tr>%s</tr></thead>
        <tbody>
        %s</tbody>
        </table></div>
        """.formatted(title, title,
        columns.stream().map(column -> "<th scope=\"col\">" + column + "</th>").collect(Collectors.joining()),
        rows.stream().map(row -> "<tr>" + cells.apply(row) + "</tr>\n").collect(Collectors.joining()));
  }

  private static String cells(String... texts) {
    return List.of(texts).stream().map(text -> "<td>" + Escape.html(text) + "</td>").collect(Collectors.joining());
  }

  private static String number(String text) {
    return "<td class=\"number\">" + Escape.html(text) + "</td>";
  }

  /// A picture of a part of a whole, with its number in words for those who do not see it.
  private static String bar(double part, boolean isFull) {
    double percent = 100 * Math.clamp(part, 0.0, 1.0);
    return String.format(Locale.ROOT, """
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label="%.0f %%"><rect class="whole" \
        width="100" height="1"/><rect class="%s" width="%.1f" height="1"/></svg>""", percent,
        isFull ? "full" : "part", percent);
  }

  private static String capacity(@Nullable Long bytes) {
    return bytes == null ? "unbounded" : Sizes.human(bytes);
  }

  private static String ago(@Nullable Duration ago) {
    return ago == null ? "" : String.format(Locale.ROOT, "%.1f s ago", ago.toMillis() / 1e3);
  }
}
