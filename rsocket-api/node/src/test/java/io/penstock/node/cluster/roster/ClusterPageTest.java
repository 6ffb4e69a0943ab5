package io.penstock.node.cluster.roster;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.cluster.roster.ClusterSight.Said;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class ClusterPageTest {
  private static final String EVIL = "</title><script>alert(1)</script>\"'&\u202e%s";
  private static final Member A = new Member("a", 7, List.of("10.0.0.1:7733"), "zone1/rack7", Member.State.UP,
      new Member.Figures(512 << 20, 1 << 30, 3 << 10));
  private static final Member B = new Member("b", 8, List.of("10.0.0.2:7733"), "zone1/rack8", Member.State.UP,
      new Member.Figures(512 << 20, 1 << 30, 0));

  private static ClusterTask task(TaskOrder.Kind kind, ClusterTask.State state, long blocks, long left) {
    return new ClusterTask("a/" + kind, "a", new TaskOrder(kind, "", "", 0), state, blocks, blocks << 12, left, "");
  }

  private static ClusterSight sight(Member... members) {
    ClusterView view = new ClusterView("kv", List.of(members));
    return new ClusterSight(view, "a", Map.of("a", Duration.ofMillis(1234)), view.members().stream()
        .map(member -> new Said(new Doctor.Answer(member, view, ""), List.of(), "")).toList());
  }

  @Test
  void members_areShownWithPlaceStateFiguresAndAge() {
    assertThat(sight(A, B).html())
        .contains("<h1>Cluster kv</h1>", "2 members; 1.00 GiB of 2.00 GiB, 3.00 KiB in flight",
            "nothing is wrong", "<td>a<div class=\"quiet\">10.0.0.1:7733, generation 7</div></td><td>zone1/rack7</td>"
                + "<td>up</td>",
            "aria-label=\"50 %\"", "<rect class=\"part\" width=\"50.0\" height=\"1\"/>", "512 MiB of 1.00 GiB",
            "<td class=\"number\">1.2 s ago</td>", "All members were asked.")
        .doesNotContain("<h2>Tasks", "What is wrong");
  }

  @Test
  void memberThatIsUnbounded_hasNoBarAndIsNotFull() {
    Member unbounded = new Member("c", 1, List.of(), "zone1/rack9", Member.State.DRAINING,
        new Member.Figures(5, Long.MAX_VALUE, 0));

    assertThat(sight(unbounded).html()).contains("1 member, 1 draining; 5 B of unbounded", "5 B of unbounded",
        "width=\"0.0\"", "<td>c</td><td>is draining and takes no new blocks</td>",
        "<td>c</td><td>is the only member</td>", "2 findings")
        .doesNotContain("\"full\"");
  }

  @Test
  void tasks_thatRun_comeFirstWithTheirProgress() {
    ClusterView view = new ClusterView("kv", List.of(A));
    ClusterSight sight = new ClusterSight(view, "a", Map.of(), List.of(new Said(new Doctor.Answer(A, view, ""),
        List.of(task(TaskOrder.Kind.REBALANCE, ClusterTask.State.CANCELLED, 7, 5),
            task(TaskOrder.Kind.DRAIN, ClusterTask.State.RUNNING, 1000, 3000)),
        "")));

    assertThat(sight.html()).containsPattern("(?s)a/DRAIN</td><td>drain</td><td>running</td><td><svg [^>]*25 %.*"
        + "1,000 blocks, 3,000 left.*3.91 MiB.*<td>all</td>.*a/REBALANCE</td><td>rebalance</td><td>cancelled");
  }

  @Test
  void memberThatDoesNotAnswer_orWasNotAsked_isSaidSo() {
    ClusterView view = new ClusterView("kv", List.of(A, B));
    ClusterSight sight = new ClusterSight(view, "a", Map.of(),
        List.of(new Said(new Doctor.Answer(A, null, "refused"), null, "")));

    assertThat(sight.html()).contains("✗</span> 1 finding", "<td>a</td><td>does not answer (refused)</td>",
        "Of 2 members, 1 answered in time, or failed to.").doesNotContain("<td>b</td><td>does not answer");
    assertThat(sight().html()).contains("this node is no member now");
    assertThat(new ClusterSight(view, "a", Map.of(),
        List.of(new Said(new Doctor.Answer(B, view, ""), null, "role must be reader"))).html())
        .contains("<td>b</td><td>does not tell its tasks (role must be reader)</td>");
  }

  @Test
  void text_ofAnyOrigin_isEscapedWhereverItStands() throws Exception {
    Member evil = new Member(EVIL, 1, List.of(EVIL), EVIL, Member.State.UP, new Member.Figures(99, 100, 0));
    ClusterView view = new ClusterView(EVIL, List.of(evil));
    ClusterTask task = new ClusterTask(EVIL, EVIL, new TaskOrder(TaskOrder.Kind.COPY, EVIL, EVIL, 0),
        ClusterTask.State.FAILED, 1, 2, 3, EVIL);
    ClusterSight sight = new ClusterSight(view, EVIL, Map.of(EVIL, Duration.ZERO),
        List.of(new Said(new Doctor.Answer(evil, null, EVIL), List.of(task), EVIL)));

    String page = sight.html();
    JsonNode json = JsonMapper.shared().readTree(sight.json());

    assertThat(page).doesNotContain("<script", EVIL, "\u202e").containsOnlyOnce("</title>")
        .contains("Cluster &lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u202e%s</h1>");
    assertThat(page.split("&lt;script&gt;", -1)).as("each place, escaped").hasSizeGreaterThan(12);
    assertThat(json.at("/members/0/name").asString()).isEqualTo(EVIL);
    assertThat(sight.json()).doesNotContain("\u202e");
  }

  @Test
  void page_loadsNothing_runsNothing_andAsksAgain() throws Exception {
    String page = sight(A, B).html();
    String style = page.substring(page.indexOf("<style>") + "<style>".length(), page.indexOf("</style>"));
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(style.getBytes(StandardCharsets.UTF_8));

    assertThat(page).contains("content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"
        + Base64.getEncoder().encodeToString(digest) + "'\"", "<meta http-equiv=\"refresh\" content=\"5\">")
        .doesNotContain("<script", " src=", "@import", "url(", "http:", "https:", " style=", " on");
  }
}
