package io.penstock.node.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.report.Summary.Group;
import io.penstock.node.report.Summary.Row;
import io.penstock.node.report.Summary.Table;
import io.penstock.node.report.Summary.TableRow;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

final class ReportPageTest {
  private static final String EVIL = "</script><script>alert(1)</script><!-- \"'&{{style}}$1\u2028";
  private static final Pattern SCRIPT = Pattern.compile("<script>(.*?)</script>", Pattern.DOTALL);

  @Test
  void text_ofAnyKind_isEscapedWhereverItStands() throws JacksonException {
    String page = ReportPage.of(
        new Summary(EVIL, EVIL, false, List.of(new Row(EVIL, EVIL)),
            List.of(new Group(EVIL, List.of(new Row(EVIL, EVIL)))),
            List.of(new Table(EVIL, List.of(EVIL), List.of(new TableRow(EVIL, List.of(EVIL)))))),
        JsonMapper.shared().writeValueAsString(Map.of("trace", EVIL)), EVIL);

    assertThat(page).doesNotContain("<script>alert", "<!-- \"")
        .contains("&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- &quot;&#39;&amp;{{style}}$1");
    assertThat(scripts(page)).as("only the library and the page's own").hasSize(2);
    assertThat(data(page)).isEqualTo(Map.of("trace", EVIL));
  }

  @Test
  void page_runsOnlyTheScriptsThatItsPolicyNames_andLoadsNothing() {
    String page = page();
    String policy = page.substring(page.indexOf("default-src"), page.indexOf("\">", page.indexOf("default-src")));

    assertThat(policy).startsWith("default-src 'none';").doesNotContain("unsafe", "http", "*");
    assertThat(scripts(page)).hasSize(2).allSatisfy(script -> assertThat(policy).contains(digest(script)));
    assertThat(page).doesNotContain("sourceMappingURL", " src=", " href=", "@import", "url(");
  }

  @Test
  void page_carriesTheLicenceOfItsLibrary() {
    assertThat(page()).contains("Chart.js ", "MIT licence", "Permission is hereby granted, free of charge",
        "Chart.js Contributors");
  }

  @Test
  void page_withoutScripts_stillHasTheSummary() {
    String page = SCRIPT.matcher(page()).replaceAll("");

    assertThat(page).contains("<noscript>", "<dt>Hits</dt><dd>12 %</dd>",
        "<th scope=\"row\">trace</th><td>t.jsonl</td>", "<h1>Replay</h1>");
  }

  @Test
  void verdict_bad_isSaidInWordsAndByASignToo() {
    assertThat(page()).contains("class=\"verdict good\"", "✓").doesNotContain("✗");
    assertThat(ReportPage.of(new Summary("t", "3 blocks leaked", false, List.of(), List.of()), "{}", "g"))
        .contains("class=\"verdict bad\"", "✗</span> 3 blocks leaked");
  }

  private static String page() {
    return ReportPage.of(new Summary("Replay", "All passed", true, List.of(new Row("Hits", "12 %")),
        List.of(new Group("Input", List.of(new Row("trace", "t.jsonl"))))), "{\"a\": 1}", "penstock 0");
  }

  private static List<String> scripts(String page) {
    List<String> scripts = new ArrayList<>();
    Matcher matcher = SCRIPT.matcher(page);
    while (matcher.find()) {
      scripts.add(matcher.group(1));
    }
    return scripts;
  }

  private static Map<?, ?> data(String page) throws JacksonException {
    String opening = "id=\"run\">";
    int start = page.indexOf(opening) + opening.length();
    return JsonMapper.shared().readValue(page.substring(start, page.indexOf("</script>", start)), Map.class);
  }

  private static String digest(String script) {
    try {
      return Base64.getEncoder()
          .encodeToString(MessageDigest.getInstance("SHA-256").digest(script.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
