package io.penstock.wire.cluster.place;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionUse;
import io.penstock.wire.cluster.Member;
import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class PlacementTest {
  private static final long BLOCK = 100;

  private final AtomicLong millis = new AtomicLong();

  private static Member member(int number, String place, long bytes, long capacity, long idle) {
    return new Member("n" + number, 1, List.of(), place, Member.State.UP,
        new Member.Figures(bytes, capacity, 0, idle));
  }

  private static List<Member> members(int count, long bytes, long idle) {
    return IntStream.range(0, count).mapToObj(i -> member(i, "", bytes, 100 * BLOCK, idle)).toList();
  }

  private Placement placement(String place, long seed) {
    return new Placement(place, new SplittableRandom(seed), millis::get);
  }

  private static Placement.Wish wish(long blocks) {
    return new Placement.Wish(blocks * BLOCK, null, null);
  }

  private static Member first(Placement placement, List<Member> members, Placement.Wish wish) {
    return requireNonNull(placement.targets(members, wish).next());
  }

  private static SessionUse session(int number) {
    return SessionUse.of(SessionId.of(ByteBuffer.allocate(4).putInt(number).array()));
  }

  @Test
  void whereNoneHasRoom_membersGetBlocks_byTheAgeOfTheirVictims() {
    List<Member> members = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      members.add(member(i, "", 100 * BLOCK, 100 * BLOCK, 1_000L * (i + 1)));
    }
    Map<String, Integer> dealt = dealt(placement("", 1), List.copyOf(members), 3_600);
    for (int i = 0; i < 8; i++) {
      assertThat(dealt.getOrDefault("n" + i, 0)).as("n" + i).isBetween(60 * i, 140 * (i + 1));
    }
  }

  @Test
  void figuresThatStayOld_doNotSendAllToOneMember() {
    List<Member> members = new ArrayList<>(members(7, 100 * BLOCK, 1_000));
    members.add(member(7, "", 100 * BLOCK, 100 * BLOCK, 1_300));
    Map<String, Integer> dealt = dealt(placement("", 1), List.copyOf(members), 800);
    assertThat(dealt.values()).allMatch(count -> count > 60 && count < 160, "60 to 160").hasSize(8);
  }

  @Test
  void aMemberThatComes_getsBlocks_butNotAllForEver() {
    Placement placement = placement("", 1);
    dealt(placement, members(4, 100 * BLOCK, 1_000), 4_000);
    Map<String, Integer> dealt = dealt(placement, members(5, 100 * BLOCK, 1_000), 1_000);
    assertThat(dealt.values()).allMatch(count -> count > 150 && count < 250, "150 to 250").hasSize(5);
  }

  /// Who gets blocks that are put one by one.
  private static Map<String, Integer> dealt(Placement placement, List<Member> members, int blocks) {
    Map<String, Integer> dealt = new HashMap<>();
    for (int i = 0; i < blocks; i++) {
      Member at = first(placement, members, wish(1));
      placement.given(members, at, BLOCK);
      dealt.merge(at.name(), 1, Integer::sum);
    }
    return dealt;
  }

  @Test
  void whatFollowsAPrefix_goesToItsMemberAtOnce_otherPutsArePortioned() {
    List<Member> members = members(2, 0, 0);
    Placement placement = placement("", 1);
    assertThat(placement.portion(members, new Placement.Wish(90 * BLOCK, members.get(0), null), BLOCK))
        .isEqualTo(Integer.MAX_VALUE);
    assertThat(placement.portion(members, new Placement.Wish(90 * BLOCK, null, session(1)), BLOCK))
        .isEqualTo(Integer.MAX_VALUE);
    assertThat(placement.portion(members, wish(90), BLOCK)).isEqualTo(8);
    assertThat(placement.portion(members, new Placement.Wish(101 * BLOCK, members.get(0), null), BLOCK)).isEqualTo(8);
    assertThat(placement.portion(members(1, 0, 0), wish(90), BLOCK)).isEqualTo(Integer.MAX_VALUE);
    assertThat(placement.portion(List.of(), wish(90), BLOCK)).isEqualTo(8);
  }

  @Test
  void aPrefix_bindsToAFullMember_whileItsVictimsAreNearlyAsOld() {
    List<Member> members = List.of(member(0, "", 100 * BLOCK, 100 * BLOCK, 900),
        member(1, "", 100 * BLOCK, 100 * BLOCK, 1_000), member(2, "", 100 * BLOCK, 100 * BLOCK, 100));
    Placement placement = placement("", 1);
    for (int i = 0; i < 100; i++) {
      assertThat(first(placement, members, new Placement.Wish(BLOCK, members.get(0), null)).name()).isEqualTo("n0");
    }
    Set<String> names = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      names.add(first(placement, members, new Placement.Wish(BLOCK, members.get(2), null)).name());
    }
    assertThat(names).contains("n0", "n1");
  }

  @Test
  void aMemberWithRoom_comesBeforeANearFullOne_andANearOneBeforeAFarOne() {
    Member nearFull = member(0, "z1/r1", 100 * BLOCK, 100 * BLOCK, 9_000);
    Member near = member(1, "z1/r2", 10 * BLOCK, 100 * BLOCK, 0);
    Member far = member(2, "z2/r1", 0, 100 * BLOCK, 0);
    for (int seed = 0; seed < 20; seed++) {
      assertThat(first(placement("z1/r1", seed), List.of(nearFull, near, far), wish(5))).isEqualTo(near);
      assertThat(first(placement("z1/r1", seed), List.of(nearFull, near, far), wish(95))).isEqualTo(far);
      assertThat(first(placement("z1/r1", seed), List.of(nearFull, near, far), wish(200))).isEqualTo(nearFull);
    }
  }

  @Test
  void allMembersThatTakeBlocks_areTried_eachOnce() {
    List<Member> members = new ArrayList<>(members(9, 0, 0));
    members.add(new Member("d", 1, List.of(), "", Member.State.DRAINING, Member.Figures.NONE));
    Placement.Targets targets = placement("", 3).targets(List.copyOf(members), wish(1));
    List<Member> tried = new ArrayList<>();
    for (Member next = targets.next(); next != null; next = targets.next()) {
      tried.add(next);
    }
    assertThat(tried).containsExactlyInAnyOrderElementsOf(members.subList(0, 9));
    assertThat(placement("", 3).order(List.copyOf(members), BLOCK))
        .containsExactlyInAnyOrderElementsOf(members.subList(0, 9));
  }

  @Test
  void aSession_goesToOneMember_atEveryClient_andFewMoveWhenAMemberComes() {
    List<Member> ten = members(10, 0, 0);
    List<Member> eleven = members(11, 0, 0);
    Placement one = placement("", 1);
    Placement other = placement("", 2);
    int moved = 0;
    Set<String> used = new HashSet<>();
    for (int i = 0; i < 400; i++) {
      Placement.Wish wish = new Placement.Wish(BLOCK, null, session(i));
      Member at = first(one, ten, wish);
      used.add(at.name());
      assertThat(first(other, ten, wish)).isEqualTo(at);
      moved += first(placement("", 3), eleven, wish).name().equals(at.name()) ? 0 : 1;
    }
    assertThat(used).hasSize(10);
    assertThat(moved).isBetween(10, 80);
  }

  /// Counts how often members are looked at.
  private static final class Watched extends AbstractList<Member> {
    private final List<Member> members;
    private final AtomicLong looks = new AtomicLong();

    private Watched(List<Member> members) {
      this.members = members;
    }

    @Override
    public Member get(int index) {
      looks.incrementAndGet();
      return members.get(index);
    }

    @Override
    public int size() {
      return members.size();
    }
  }

  @Test
  void aChoice_looksAtAsManyMembers_howeverManyThereAre() {
    for (long bytes : new long[] {0, 100 * BLOCK}) {
      long few = draws(10, bytes);
      assertThat(draws(1_000, bytes)).isEqualTo(few);
    }
  }

  /// Draws of 100 choices, in which the list is not looked at.
  private long draws(int count, long bytes) {
    Watched members = new Watched(members(count, bytes, 5));
    AtomicLong draws = new AtomicLong();
    RandomGenerator random = new SplittableRandom(1);
    Placement placement = new Placement("", () -> {
      draws.incrementAndGet();
      return random.nextLong();
    }, millis::get);
    first(placement, members, wish(1));
    long looks = members.looks.get();
    draws.set(0);
    for (int i = 0; i < 100; i++) {
      first(placement, members, new Placement.Wish(BLOCK, null, i % 2 == 0 ? session(i) : null));
    }
    assertThat(members.looks).hasValue(looks);
    return draws.get();
  }
}
