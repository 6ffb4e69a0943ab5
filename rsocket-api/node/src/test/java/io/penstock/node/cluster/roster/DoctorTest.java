package io.penstock.node.cluster.roster;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Member;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DoctorTest {
  private static final Member A = member("a", 1, 50, Member.State.UP);
  private static final Member B = member("b", 2, 60, Member.State.UP);

  private static Member member(String name, long generation, long bytes, Member.State state) {
    return new Member(name, generation, List.of("127.0.0.1:1"), "rack-" + name, state,
        new Member.Figures(bytes, 100, 0));
  }

  private static ClusterView view(Member... members) {
    return new ClusterView("kv", List.of(members));
  }

  private static Doctor.Answer says(Member member, Member... own) {
    return new Doctor.Answer(member, view(own), "");
  }

  private static List<String> findings(ClusterView view, Doctor.Answer... answers) {
    return new Doctor(view, List.of(answers)).findings().stream().map(each -> each.node() + " " + each.what()).toList();
  }

  @Test
  void membersThatAgree_areHealthy() {
    assertThat(findings(view(A, B), says(A, A, B), says(B, A, B))).isEmpty();
    assertThat(findings(view(), new Doctor.Answer[0])).isEmpty();
  }

  @Test
  void memberThatDoesNotAnswer_isFound() {
    assertThat(findings(view(A, B), says(A, A, B), new Doctor.Answer(B, null, "connection refused")))
        .containsExactly("b does not answer (connection refused)");
  }

  @Test
  void memberThatIsAlone_isFound() {
    assertThat(findings(view(A), says(A, A))).containsExactly("a is the only member");
  }

  @Test
  void split_isFoundAtTheMemberThatKnowsOthers() {
    Member c = member("c", 3, 50, Member.State.UP);

    assertThat(findings(view(A, B), says(A, A, B), says(B, B, c)))
        .containsExactly("b knows other members, without a; with c");
  }

  @Test
  void memberThatHasStartedAgain_isFound() {
    Member again = member("b", 9, 60, Member.State.UP);

    assertThat(findings(view(A, B), says(A, A, B), says(B, A, again)))
        .containsExactly("b has started again, which others do not know");
  }

  @Test
  void membersThatAreFullUnevenDrainingOrNowhere_areFound() {
    Member full = member("full", 1, 96, Member.State.UP);
    Member empty = new Member("empty", 1, List.of("127.0.0.1:1"), "", Member.State.DRAINING,
        new Member.Figures(0, 100, 0));
    ClusterView view = view(A, empty, full);

    assertThat(findings(view, says(A, A, empty, full), says(empty, A, empty, full), says(full, A, empty, full)))
        .containsExactly("empty is draining and takes no new blocks",
            "empty is 0 % full, and members are 49 % full on average", "empty states no place, but others do",
            "full is 96 % full");
  }
}
