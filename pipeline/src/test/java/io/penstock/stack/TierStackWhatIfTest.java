package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.pool.curve.WhatIf;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.TierInputs;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What a stack says of other capacities is what stacks of these capacities do. All keys are sampled, so it is exact.
final class TierStackWhatIfTest extends StackSteps {
  private static final int REQUESTS = 400;
  private static final Sampling ALL = new Sampling(2_000, 42);

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theHitRatesOfOtherCapacities_areThoseOfSuchStacks(boolean exact) {
    TierStack stack = hostAndDisk(4, 4, exact, ALL);
    load(stack);
    WhatIf whatIf = stack.whatIf();

    assertThat(whatIf.curve().rate()).isEqualTo(1);
    assertThat(whatIf.curve().references()).isEqualTo(stat(stack).hits() + stat(stack).misses());
    assertThat(whatIf.whole(1, 4).hitRate()).isEqualTo(hitRate(stat(stack)), within(1e-9));
    assertThat(whatIf.upTo(0, 4).hitRate())
        .isEqualTo((double) levels(stack).getFirst().hits() / whatIf.curve().references(), within(1e-9));
    assertClosesClean(stack);
    for (int more : new int[] {1, 3, 7}) {
      TierStack other = hostAndDisk(4, 4 + more, exact, Sampling.none());
      load(other);
      assertThat(whatIf.whole(1, 4 + more).hitRate()).isEqualTo(hitRate(stat(other)), within(1e-9));
      assertThat(whatIf.gainOfWhole(1, 4 + more).hitRate())
          .isEqualTo(whatIf.whole(1, 4 + more).hitRate() - whatIf.whole(1, 4).hitRate(), within(1e-9));
      assertClosesClean(other);
    }
  }

  @Test
  void blocksThatAStoreKept_countAsPresent() {
    MemoryStore store = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run);
    TierStack first = stack(List.of(new StackLevel.Stored(store, 8)), true, Sampling.none());
    put(first, 1);
    assertClosesClean(first);

    TierStack second = stack(List.of(new StackLevel.Stored(store.reopened(), 8)), true, ALL);
    ask(second, List.of(key(1)));

    assertThat(second.whatIf().curve().at(8).hitRate()).isEqualTo(1);
    assertClosesClean(second);
  }

  @Test
  void aRemovedBlock_missesWhateverTheCapacity() {
    TierStack stack = hostAndDisk(4, 4, true, ALL);
    put(stack, 1);
    stack.remove(List.of(key(1))).block(SOON);
    ask(stack, List.of(key(1)));
    assertThat(stack.whatIf().curve().at(1_000).hitRate()).isZero();
    assertClosesClean(stack);
  }

  @Test
  void keysThatAreNeverWritten_doNotEnter() {
    TierStack stack = hostAndDisk(4, 4, false, ALL);
    for (int i = 0; i < 5; i++) {
      ask(stack, List.of(key(1), key(2)));
    }
    assertThat(stack.whatIf().curve().references()).isEqualTo(10);
    assertThat(stack.whatIf().curve().at(1_000).hitRate()).isZero();
    assertClosesClean(stack);
  }

  @Test
  void withoutSampling_thereIsNoCurve() {
    TierStack stack = hostAndDisk(4, 4, true, Sampling.none());
    load(stack);
    assertThat(stack.whatIf().curve().points()).isEmpty();
    assertClosesClean(stack);
  }

  /// The same requests for every stack: runs of up to 4 keys, the first ones more often; what is absent is written.
  private void load(TierStack stack) {
    Random random = new Random(7);
    for (int i = 0; i < REQUESTS; i++) {
      int first = Math.min(random.nextInt(24), random.nextInt(24));
      List<BlockKey> keys = new ArrayList<>();
      for (int key = first; key <= first + random.nextInt(3); key++) {
        keys.add(key(key));
      }
      for (BlockKey key : keys) { // one at a time: each miss is written before the next key is asked for
        ask(stack, List.of(key));
        if (!requireNonNull(stack.contains(List.of(key)).block(SOON)).get(0)) {
          putAll(stack, List.of(key));
        }
      }
    }
  }

  private static void ask(TierStack stack, List<BlockKey> keys) {
    try (BlockScope scope = new BlockScope()) {
      stack.lease(keys, OnMiss.SKIP, scope).block(SOON);
    }
  }

  private static double hitRate(TierStat stat) {
    return (double) stat.hits() / (stat.hits() + stat.misses());
  }

  private static TierStack hostAndDisk(int host, int disk, boolean exact, Sampling sampling) {
    MemoryStore store = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run);
    return stack(List.of(new StackLevel.Host("dram", host), new StackLevel.Stored(store, disk)), exact, sampling);
  }

  private static TierStack stack(List<StackLevel> levels, boolean exact, Sampling sampling) {
    return new TierStack(SPACE, levels, StackOptions.defaults("stack").withExact(exact), TierListener.noop(),
        TierInputs.ofSystem(), sampling);
  }
}
