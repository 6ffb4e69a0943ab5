package io.penstock.gateway.choice;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.penstock.gateway.choice.Router.Load;
import io.penstock.testkit.Race;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RouterTest {
  private static final int BLOCK = 16;
  private static final long SECOND = 1_000_000_000L;
  private static final long THREE = 0b111;

  private long now;

  private Router router(Policy policy, int instances) {
    Router router = new Router(policy, new Router.Options(1000, SECOND, 8), () -> now, new SplittableRandom(1));
    for (int i = 0; i < instances; i++) {
      assertThat(router.add("instance-" + i, true)).isEqualTo(i);
    }
    return router;
  }

  private static long[] names(int from, int to) {
    long[] names = new long[to - from];
    for (int i = 0; i < names.length; i++) {
      names[i] = PromptBlocks.ofTraceId(from + i);
    }
    return names;
  }

  private static Prompt prompt(long... names) {
    return new Prompt(names, BLOCK, (long) names.length * BLOCK, names.length * 64L, null);
  }

  private static Prompt unknown(long tokens, @Nullable String session) {
    return new Prompt(new long[0], BLOCK, tokens, tokens * 4, session);
  }

  private static Choice choose(Router router, Prompt prompt, long prefills, long decodes) {
    return requireNonNull(router.choose(prompt, prefills, decodes));
  }

  @Test
  void roundRobin_takesEachInTurn_amongTheAllowed() {
    Router router = router(Policy.ROUND_ROBIN, 3);
    List<Integer> taken = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      taken.add(choose(router, unknown(10, null), 0b101, 0).prefill());
    }
    assertThat(taken).containsExactly(0, 2, 0, 2, 0, 2);
  }

  @Test
  void random_takesAll_andIsDeterministic() {
    List<Integer> first = new ArrayList<>();
    List<Integer> second = new ArrayList<>();
    Router one = router(Policy.RANDOM, 3);
    Router two = router(Policy.RANDOM, 3);
    for (int i = 0; i < 100; i++) {
      first.add(choose(one, unknown(10, null), THREE, THREE).prefill());
      second.add(choose(two, unknown(10, null), THREE, THREE).prefill());
    }
    assertThat(first).isEqualTo(second).contains(0, 1, 2);
  }

  @ParameterizedTest
  @EnumSource(Policy.class)
  void noneAllowed_isNoChoice_andChargesNothing(Policy policy) {
    Router router = router(policy, 2);
    assertThat(router.choose(unknown(10, null), 0, 0)).isNull();
    assertThat(router.choose(unknown(10, null), 0b01, 0b100)).as("a decode that is not known").isNull();
    assertThat(router.load(0)).isEqualTo(Load.NONE);
  }

  @Test
  void prefix_goesWhereTheBlocksAre_unlessTooMuchWaitsThere() {
    Router router = router(Policy.PREFIX, 3);
    for (long name : names(0, 100)) {
      router.index().add(1, Medium.DEVICE, name);
    }
    Choice near = choose(router, prompt(names(0, 110)), THREE, 0);
    assertThat(near.prefill()).isEqualTo(1);
    assertThat(near.overlapBlocks()).isEqualTo(100);
    assertThat(near.source()).isEqualTo(new Choice.Source(1, "instance-1", 100));
    choose(router, unknown(10_000, null), 0b010, 0);
    Choice away = choose(router, prompt(names(0, 110)), THREE, 0);
    assertThat(away.prefill()).isNotEqualTo(1);
    assertThat(away.source()).as("the blocks can be taken from there").isNotNull();
    assertThat(requireNonNull(away.source()).instance()).isEqualTo(1);
  }

  @Test
  void prefix_prefersTheFasterMedium() {
    Router router = router(Policy.PREFIX, 3);
    for (long name : names(0, 50)) {
      router.index().add(0, Medium.STORAGE, name);
      router.index().add(2, Medium.HOST, name);
    }
    assertThat(choose(router, prompt(names(0, 50)), THREE, 0).prefill()).isEqualTo(2);
  }

  /// The next turn often comes before the events of the turn before.
  @Test
  void prefix_expectsBlocksWhereTheyWereSent_forATime() {
    Router router = router(Policy.PREFIX, 3);
    Choice first = choose(router, prompt(names(0, 20)), 0b100, 0);
    first.close();
    assertThat(choose(router, prompt(names(0, 21)), THREE, 0).prefill()).isEqualTo(2);
    now += 2 * SECOND;
    Choice late = choose(router, prompt(names(0, 20)), THREE, 0);
    assertThat(late.overlapBlocks()).isZero();
    assertThat(late.source()).isNull();
  }

  @Test
  void session_staysWhereItWas_whenItsTokensAreNotKnown() {
    Router router = router(Policy.PREFIX, 3);
    Choice first = choose(router, unknown(1000, "s"), 0b010, 0b100);
    first.close();
    Choice next = choose(router, unknown(1100, "s"), THREE, THREE);
    assertThat(next.prefill()).isEqualTo(1);
    assertThat(next.decode()).isEqualTo(2);
    next.close();
    router.remove(1);
    assertThat(choose(router, unknown(1200, "s"), THREE, THREE).prefill()).isNotEqualTo(1);
  }

  @Test
  void sourceMayBeANodeThatNeitherComputesNorGenerates() {
    Router router = router(Policy.PREFIX, 3);
    for (long name : names(0, 10)) {
      router.index().add(2, Medium.STORAGE, name);
    }
    Choice choice = choose(router, prompt(names(0, 10)), 0b001, 0b010);
    assertThat(choice.prefill()).isZero();
    assertThat(choice.source()).isEqualTo(new Choice.Source(2, "instance-2", 10));
  }

  @Test
  void removedInstance_leavesNothingForTheNextOfItsNumber() {
    Router router = router(Policy.PREFIX, 2);
    Choice open = choose(router, prompt(names(0, 10)), 0b10, 0);
    router.index().add(1, Medium.DEVICE, 5);
    router.remove(1);
    assertThat(router.index().size()).isZero();
    assertThat(router.add("another", true)).isEqualTo(1);
    open.close();
    assertThat(router.load(1)).as("the old request is not charged to it").isEqualTo(Load.NONE);
    assertThat(choose(router, prompt(names(0, 10)), 0b11, 0).overlapBlocks()).isZero();
  }

  @Test
  void moreInstancesThanBits_areRefused() {
    Router router = router(Policy.LOAD, 64);
    assertThatThrownBy(() -> router.add("one more", true)).isInstanceOf(IllegalStateException.class)
        .hasMessage("instances must be at most 64 (was one more: one more)");
  }

  @Test
  void requestsAtOnce_spread() {
    Router router = router(Policy.PREFIX, 3);
    Set<Integer> taken = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      taken.add(choose(router, prompt(names(100 * i, 100 * i + 10)), THREE, 0).prefill());
    }
    assertThat(taken).hasSize(3);
  }

  /// Whatever steps come, in which order and how often, each charge is given back once.
  @Test
  void stepsOfAChoice_mayRace() {
    Router router = router(Policy.PREFIX, 2);
    try (Race race = new Race(4)) {
      for (int round = 0; round < 300; round++) {
        Choice choice = choose(router, unknown(1000 + round, null), 0b01, 0b10);
        assertThat(router.load(0).waitingTokens()).isEqualTo(1000 + round);
        assertThat(router.load(1).heldTokens()).isEqualTo(1000 + round);
        race.run(choice::computed, choice::handedOver, choice::close, choice::close);
        assertThat(router.load(0).waitingTokens()).isZero();
        assertThat(router.load(0).heldScore()).isZero();
        assertThat(router.load(1)).isEqualTo(Load.NONE);
      }
    }
  }

  @Test
  void aLaterStep_includesThoseBefore() {
    Router router = router(Policy.LOAD, 2);
    Choice choice = choose(router, unknown(1000, null), 0b01, 0b10);
    choice.handedOver();
    assertThat(router.load(0).waitingTokens()).isZero();
    assertThat(router.load(0).heldScore()).isZero();
    assertThat(router.load(1).requests()).isEqualTo(1);
    choice.computed();
    assertThat(router.load(0).waitingTokens()).isZero();
    choice.close();
    assertThat(router.load(1).requests()).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void manyThreads_leaveNothingCharged(long seed) {
    Router router = router(Policy.PREFIX, 3);
    List<SplittableRandom> randoms = List.of(new SplittableRandom(seed), new SplittableRandom(seed + 10));
    try (Race race = new Race(2)) {
      race.run(randoms.stream().map(random -> (Runnable) () -> {
        for (int i = 0; i < 2000; i++) {
          int from = random.nextInt(50);
          Choice choice = choose(router, prompt(names(from, from + 1 + random.nextInt(30))), THREE, THREE);
          router.index().add(choice.prefill(), Medium.DEVICE, PromptBlocks.ofTraceId(from));
          choice.computed();
          choice.close();
        }
      }).toArray(Runnable[]::new));
    }
    for (int i = 0; i < 3; i++) {
      assertThat(router.load(i).waitingTokens()).isCloseTo(0, within(1e-6));
      assertThat(router.load(i).heldScore()).isCloseTo(0, within(1e-6));
      assertThat(router.load(i).requests()).isZero();
    }
  }
}
