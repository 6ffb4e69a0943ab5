package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Blocks in memory that are shared at once, without a lease.
final class TryGetTest extends StackSteps {
  private static final int HOST = 8;
  private static final int DISK = 8;
  /// Blocks of a stack without a disk.
  private static final int CAPACITY = 8;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final MemoryStore disk = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
  private final TierStack stack = new TierStack(SPACE,
      List.of(new StackLevel.Host("dram", HOST), new StackLevel.Stored(disk, DISK)),
      StackOptions.defaults("stack").withIngressBlocks(4), TierListener.noop(), () -> 7);

  @AfterEach
  void close() {
    runTasks();
    assertClosesClean(stack);
  }

  private static List<BlockKey> keys(int... numbers) {
    return IntStream.of(numbers).mapToObj(StackSteps::key).toList();
  }

  private static List<Integer> taken(@Nullable List<LeasedBlock> blocks) {
    List<Integer> positions = new ArrayList<>();
    for (LeasedBlock leased : requireNonNull(blocks, "all of them are in memory")) {
      Blocks.assertBytes(leased.block());
      positions.add(leased.position());
      leased.block().close();
    }
    return positions;
  }

  @Test
  void blocksInMemory_comeInKeyOrder_withoutThoseThatAreMissing() {
    putAll(stack, keys(0, 1, 2));

    assertThat(taken(stack.tryGet(keys(9, 2, 8, 0), null))).containsExactly(1, 3);

    assertThat(stat(stack).hits()).isEqualTo(2);
    assertThat(stat(stack).misses()).isEqualTo(2);
    assertThat(taken(stack.tryGet(keys(8, 9), null))).isEmpty();
    assertThat(taken(stack.tryGet(List.of(), null))).isEmpty();
  }

  @Test
  void oneBlockOnTheDisk_meansNone_andNothingIsCounted() {
    for (int i = 0; i < HOST + 2; i++) {
      put(stack, i);
      runTasks();
    }
    TierStat before = stat(stack);

    assertThat(stack.tryGet(keys(HOST + 1, HOST, 0), null)).isNull();

    TierStat after = stat(stack);
    assertThat(after.hits()).isEqualTo(before.hits());
    assertThat(after.misses()).isEqualTo(before.misses());
    assertThat(after.lastSequence()).isEqualTo(before.lastSequence());
    assertThat(taken(stack.tryGet(keys(HOST + 1, HOST), null))).containsExactly(0, 1);
  }

  @Test
  void moreThanALeaseMayHold_meansNone() {
    TierStack bounded = new TierStack(SPACE, List.of(new StackLevel.Host("dram", HOST)),
        StackOptions.defaults("stack").withIngressBlocks(4).withExact(false), TierListener.noop(), () -> 7);
    putAll(bounded, keys(0, 1, 2, 3));

    assertThat(bounded.tryGet(keys(0, 1, 2, 3), null)).isNull();
    assertThat(taken(bounded.tryGet(keys(3), null))).containsExactly(0);
    assertClosesClean(bounded);
  }

  @Test
  void blocksThatAreShared_outliveTheirEviction() {
    put(stack, 0);
    List<LeasedBlock> shared = requireNonNull(stack.tryGet(keys(0), null));
    for (int i = 1; i < HOST + 3 * DISK; i++) {
      put(stack, i);
      runTasks();
    }
    assertThat(present(stack, 0)).isEqualTo("0");

    assertThat(taken(shared)).containsExactly(0);
  }

  @Test
  void closedStack_refuses() {
    stack.close().subscribe();
    assertThatThrownBy(() -> stack.tryGet(keys(0), null)).isInstanceOf(TierClosedException.class);
  }

  /// Random puts and reads, of which one stack answers all reads by leases: hits, victims and events are the same.
  @Test
  void decidesAsALease() {
    for (long seed = 0; seed < 30; seed++) {
      TierStack leased = inMemory();
      TierStack shared = inMemory();
      SplittableRandom random = new SplittableRandom(seed);
      for (int step = 0; step < 120; step++) {
        int[] numbers = random.ints(3, 0, 3 * CAPACITY).distinct().toArray();
        if (random.nextInt(3) == 0) {
          putAll(leased, keys(numbers));
          putAll(shared, keys(numbers));
        } else {
          assertThat(taken(shared.tryGet(keys(numbers), null))).as("seed %d, step %d", seed, step)
              .isEqualTo(read(leased, keys(numbers)));
        }
      }
      assertThat(history(shared)).as("seed %d", seed).isEqualTo(history(leased));
      assertThat(stat(shared)).as("seed %d", seed).isEqualTo(stat(leased));
      assertClosesClean(leased);
      assertClosesClean(shared);
    }
  }

  private static TierStack inMemory() {
    return new TierStack(SPACE, List.of(new StackLevel.Host("dram", CAPACITY)),
        StackOptions.defaults("stack").withIngressBlocks(4), TierListener.noop(), () -> 7);
  }

  private static List<Integer> read(TierStack stack, List<BlockKey> keys) {
    try (BlockScope scope = new BlockScope()) {
      return requireNonNull(stack.lease(keys, OnMiss.SKIP, scope)
          .flatMapMany(lease -> lease.windows(CAPACITY, scope).concatMapIterable(window -> window, 1)
              .doFinally(end -> lease.close()))
          .map(LeasedBlock::position).collectList().block(SOON));
    }
  }
}
