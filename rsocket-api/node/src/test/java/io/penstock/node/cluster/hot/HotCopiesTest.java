package io.penstock.node.cluster.hot;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.Presence;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.security.Role;
import io.penstock.wire.simulate.LinkPlan;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

/// Copies of hot blocks, in virtual time. One holder is to give a block four times a second.
@Timeout(120)
final class HotCopiesTest {
  private static final double TIMES = 4;

  private static HotNodes nodes(long seed, int count) {
    return new HotNodes(seed, (long) (TIMES * HotNodes.BLOCK), LinkPlan.quiet()).add(count).addReaders(4);
  }

  /// Of 80 seeds, three have seven holders: readers draw, so a holder may see more demand than there is.
  @ParameterizedTest
  @ValueSource(longs = {3, 4})
  void keyThatManyRead_getsCopies_andReadersShareThem_untilItIsColdAgain(long seed) {
    try (HotNodes nodes = nodes(seed, 8)) {
      HotNodes.Node owner = nodes.node("nd");
      owner.put(PutTerms.plain(), HotNodes.key());
      Disposable reads = nodes.reads(HotNodes.key(), 4.4 * TIMES);
      nodes.pass(40);
      List<String> holders = nodes.holders(HotNodes.key());
      assertThat(holders).as("seed " + seed).hasSizeBetween(5, 6).contains("nd");

      long[] before = hits(nodes, holders);
      nodes.pass(20);
      long[] after = hits(nodes, holders);
      double share = 20 * 4.4 * TIMES / holders.size();
      for (int i = 0; i < holders.size(); i++) {
        assertThat((after[i] - before[i]) / share).as("share of %s, seed %d", holders.get(i), seed).isBetween(0.6, 1.4);
      }
      assertThat(nodes.read).isGreaterThan((long) (0.99 * 60 * 4.4 * TIMES));

      reads.dispose();
      nodes.pass(60);
      assertThat(nodes.holders(HotNodes.key())).as("seed " + seed).containsExactly("nd");
      assertThat(nodes.nodes).allSatisfy(node -> assertThat(node.hot.copies()).isZero());
    }
  }

  @Test
  void withUsers_copiesOfAnAdmin_goAgain() {
    try (HotNodes nodes = ofRole(Role.ADMIN)) {
      nodes.node("nb").put(PutTerms.plain(), HotNodes.key());
      Disposable reads = nodes.reads(HotNodes.key(), 2.5 * TIMES);
      nodes.pass(20);
      assertThat(nodes.holders(HotNodes.key())).hasSize(3);
      reads.dispose();
      nodes.pass(60);
      assertThat(nodes.holders(HotNodes.key())).containsExactly("nb");
    }
  }

  @Test
  void withUsers_copiesOfAWriterStay_andNothingElseOfALookFailsForThat() {
    List<Throwable> uncaught = new ArrayList<>();
    Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
    Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
    try (HotNodes nodes = ofRole(Role.WRITER)) {
      nodes.node("nb").put(PutTerms.plain(), HotNodes.keys().get(0));
      nodes.node("nb").put(PutTerms.plain(), HotNodes.keys().get(1));
      Disposable reads = nodes.reads(HotNodes.keys().get(0), 4 * TIMES);
      nodes.pass(20);
      reads.dispose();
      nodes.pass(40);
      List<String> stay = nodes.holders(HotNodes.keys().get(0));
      assertThat(stay).hasSizeGreaterThan(3);
      nodes.reads(HotNodes.keys().get(1), 4 * TIMES);
      nodes.pass(20);
      assertThat(nodes.holders(HotNodes.keys().get(0))).isEqualTo(stay);
      assertThat(nodes.holders(HotNodes.keys().get(1))).hasSizeGreaterThan(3);
      assertThat(uncaught).as("looks that failed as a whole").isEmpty();
    } finally {
      Thread.currentThread().setUncaughtExceptionHandler(before);
    }
  }

  private static HotNodes ofRole(Role role) {
    return new HotNodes(13, (long) (TIMES * HotNodes.BLOCK), LinkPlan.quiet()).withRole(role).add(5).addReaders(4);
  }

  private static long[] hits(HotNodes nodes, List<String> names) {
    return names.stream().mapToLong(name -> nodes.node(name).hits()).toArray();
  }

  @ParameterizedTest
  @CsvSource({"3, 3, 6", "11, 8, 12"})
  void copies_areBounded_howeverMuchIsRead_andGoWithinAMinute(int members, int most, int load) {
    try (HotNodes nodes = nodes(4, members)) {
      nodes.node("nb").put(PutTerms.plain(), HotNodes.key());
      Disposable reads = nodes.reads(HotNodes.key(), load * TIMES);
      nodes.pass(15);
      assertThat(nodes.holders(HotNodes.key())).hasSize(most);
      nodes.pass(5);
      assertThat(nodes.holders(HotNodes.key())).hasSize(most);
      reads.dispose();
      nodes.pass(60);
      assertThat(nodes.holders(HotNodes.key())).containsExactly("nb");
    }
  }

  @Test
  void demandBeyondAllBounds_isForgottenAsSoon() {
    try (HotNodes nodes = nodes(11, 3)) {
      nodes.node("nb").put(PutTerms.plain(), HotNodes.key());
      BitSet all = new BitSet();
      all.set(0);
      for (int i = 0; i < 20; i++) {
        nodes.nodes.forEach(node -> node.demand.read(List.of(HotNodes.key()), Presence.of(1, all), 1L << 40));
        nodes.pass(1);
      }
      assertThat(nodes.holders(HotNodes.key())).hasSize(3);
      nodes.pass(60);
      assertThat(nodes.holders(HotNodes.key())).containsExactly("nb");
    }
  }

  @Test
  void demandThatPauses_keepsItsCopiesForAWhile() {
    try (HotNodes nodes = nodes(12, 6)) {
      nodes.node("nb").put(PutTerms.plain(), HotNodes.key());
      Disposable reads = nodes.reads(HotNodes.key(), 3.5 * TIMES);
      nodes.pass(40);
      List<String> holders = nodes.holders(HotNodes.key());
      assertThat(holders).hasSizeBetween(4, 5);
      reads.dispose();
      nodes.pass(20);
      assertThat(nodes.holders(HotNodes.key())).isEqualTo(holders);
    }
  }

  @ParameterizedTest
  @CsvSource({"0.9, 1", "1.1, 2", "1.1, 3", "2.05, 4"})
  void steadyDemand_nearTheBound_neverTakesACopyAway(double load, long seed) {
    try (HotNodes nodes = nodes(seed, 5)) {
      nodes.node("nc").put(PutTerms.plain(), HotNodes.key());
      nodes.reads(HotNodes.key(), load * TIMES);
      nodes.pass(20);
      Set<String> seen = new HashSet<>();
      int before = nodes.holders(HotNodes.key()).size();
      for (int i = 0; i < 50; i++) {
        nodes.pass(1);
        List<String> now = nodes.holders(HotNodes.key());
        assertThat(now).as("seed " + seed).containsAll(seen);
        seen.addAll(now);
      }
      assertThat(seen.size()).as("holders, seed " + seed).isBetween(before, before + 1)
          .isLessThanOrEqualTo((int) Math.ceil(load) + 1);
    }
  }

  @Test
  void holderThatDies_isACopyFewer_andAnotherMemberGetsOne() {
    try (HotNodes nodes = nodes(7, 6)) {
      nodes.node("na").put(PutTerms.plain(), HotNodes.key());
      nodes.reads(HotNodes.key(), 2.5 * TIMES);
      nodes.pass(30);
      List<String> holders = nodes.holders(HotNodes.key());
      assertThat(holders).hasSize(3);
      String victim = holders.getLast();
      nodes.node(victim).die();
      nodes.pass(20);
      assertThat(nodes.holders(HotNodes.key())).hasSizeBetween(3, 4).doesNotContain(victim);
      assertThat(nodes.read).as("of " + 50 * 2.5 * TIMES).isGreaterThan((long) (0.97 * 50 * 2.5 * TIMES));
    }
  }

  @Test
  void ofTwoHolders_onlyTheFirstByName_makesCopies() {
    try (HotNodes nodes = nodes(8, 6)) { // one of the first copies may well be at na, which does not act either
      nodes.node("nb").put(PutTerms.plain(), HotNodes.key());
      nodes.node("ne").put(PutTerms.plain(), HotNodes.key());
      nodes.reads(HotNodes.key(), 5 * TIMES);
      Set<String> makers = new HashSet<>();
      for (int i = 0; i < 30; i++) {
        nodes.pass(1);
        nodes.nodes.stream().filter(node -> node.hot.copies() > 0).forEach(node -> makers.add(node.name));
      }
      assertThat(makers).containsExactly("nb");
      assertThat(nodes.holders(HotNodes.key()).size()).isBetween(5, 6);
    }
  }

  @Test
  void copies_carryNoPin_andNoSession() {
    try (HotNodes nodes = nodes(9, 3)) {
      nodes.node("na").put(PutTerms.plain().withPin(Pin.hard()).withGroup("together")
          .withSession(SessionUse.of(SessionId.of("talk"))), HotNodes.key());
      nodes.reads(HotNodes.key(), 2.5 * TIMES);
      nodes.pass(20);
      assertThat(nodes.holders(HotNodes.key())).hasSize(3);
      for (String copy : List.of("nb", "nc")) {
        assertThat(requireNonNull(nodes.node(copy).tier.terms(List.of(HotNodes.key())).block()))
            .containsExactly(PutTerms.plain());
      }
    }
  }

  @Test
  void nodeThatDrains_makesNoCopies_getsNone_andDoesNotCountAsAHolder() {
    try (HotNodes nodes = nodes(10, 5)) {
      BlockKey first = HotNodes.keys().get(0);
      BlockKey second = HotNodes.keys().get(1);
      nodes.node("nb").put(PutTerms.plain(), first);
      nodes.node("nc").put(PutTerms.plain(), first);
      nodes.node("nc").put(PutTerms.plain(), second);
      nodes.node("nc").state = Member.State.DRAINING;
      nodes.reads(first, 1.6 * TIMES);
      nodes.reads(second, 5 * TIMES);
      nodes.pass(25);
      assertThat(nodes.holders(first)).hasSize(3).contains("nb", "nc");
      assertThat(nodes.holders(second)).containsExactly("nc");
    }
  }

  @Test
  void copiesWhoseOriginalIsGone_areNotAllRemoved() {
    for (long seed = 20; seed < 22; seed++) {
      try (HotNodes nodes = nodes(seed, 6)) {
        BlockKey key = HotNodes.key();
        nodes.node("nc").put(PutTerms.plain(), key);
        Disposable reads = nodes.reads(key, 4 * TIMES);
        nodes.pass(20);
        nodes.node("nc").tier.remove(List.of(key)).block();
        nodes.pass(5);
        assertThat(nodes.node("nc").hot.copies()).isZero();
        reads.dispose();
        List<Integer> counts = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
          nodes.pass(1);
          counts.add(nodes.holders(key).size());
        }
        assertThat(counts).as("seed " + seed).doesNotContain(0);
      }
    }
  }
}
