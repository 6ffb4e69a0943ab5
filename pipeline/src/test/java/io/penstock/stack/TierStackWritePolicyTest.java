package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.EvictionPolicy;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.Tiering;
import io.penstock.stack.shape.StackOptions.WritePolicy;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierListener;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// When blocks go to the disk, by the name of the policy and above a watermark, and when they come back ahead of a
/// read.
@Timeout(30)
final class TierStackWritePolicyTest extends StackSteps {
  private static final StackOptions OPTIONS = StackOptions.defaults("stack").withIngressBlocks(32)
      .withTransferBlocks(8).withPromotionBlocks(8).withBatchBlocks(1).withExact(false);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final FaultyStore disk = new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, 1024, tasks::add));

  private TierStack stack(int memory, StackOptions options) {
    return new TierStack(SPACE, List.of(new StackLevel.Host("dram", memory), new StackLevel.Stored(disk, 512)), options,
        TierListener.noop());
  }

  private void fill(TierStack stack, int from, int to) {
    for (int i = from; i < to; i++) {
      committed(stack, List.of(key(i))).subscribe();
      runTasks();
    }
  }

  private static long onDisk(TierStack stack) {
    return stat(stack).levels().getLast().storedBlocks();
  }

  private static long inMemory(TierStack stack) {
    return stat(stack).levels().getFirst().blocks();
  }

  private static List<BlockKey> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(StackSteps::key).toList();
  }

  // Policies by name

  @Test
  void writeThrough_hasTheBlockOnDiskBeforeItIsVisible() {
    TierStack stack = stack(4, OPTIONS.withWritePolicy(WritePolicy.WRITE_THROUGH));
    var receipts = committed(stack, List.of(key(0))).toFuture();
    assertThat(present(stack, 0)).isEqualTo("0");
    runTasks();
    assertThat(requireNonNull(receipts.getNow(null))).extracting(Receipt::durability)
        .containsExactly(Durability.WRITTEN);
    assertThat(onDisk(stack)).isOne();
    assertClosesClean(stack);
  }

  @Test
  void writeBack_writesEveryBlockThatLeavesMemory_andNoOther() {
    TierStack stack = stack(4, OPTIONS.withWritePolicy(WritePolicy.WRITE_BACK));
    fill(stack, 0, 4);
    assertThat(onDisk(stack)).isZero();
    fill(stack, 4, 6);
    assertThat(onDisk(stack)).isEqualTo(2);
    assertThat(present(stack, 0, 1, 2, 3, 4, 5)).isEqualTo("111111");
    assertClosesClean(stack);
  }

  @Test
  void writeThroughSelective_writesBlocksThatWereUsedTwice_whenTheyLeaveMemory() {
    TierStack stack = stack(4, OPTIONS.withWritePolicy(WritePolicy.WRITE_THROUGH_SELECTIVE));
    fill(stack, 0, 4);
    read(stack, 0);
    read(stack, 0);
    read(stack, 1);
    assertThat(onDisk(stack)).isZero();
    fill(stack, 4, 8);
    assertThat(present(stack, 0, 1, 2, 3)).isEqualTo("1000");
    assertThat(onDisk(stack)).isOne();
    assertClosesClean(stack);
  }

  // Watermarks

  @Test
  void memoryAboveItsHighMark_isDemotedToItsLowMark_inSteps() {
    TierStack stack = stack(200, OPTIONS.withTiering(Tiering.exact().withWatermarks(0.9, 0.8)));
    fill(stack, 0, 180);
    assertThat(inMemory(stack)).as("up to the mark").isEqualTo(180);
    assertThat(onDisk(stack)).isZero();
    fill(stack, 180, 181);
    assertThat(inMemory(stack)).isEqualTo(160);
    assertThat(stat(stack).tiering().aboveWatermark()).isEqualTo(21);
    assertThat(present(stack, 0, 20, 21, 180)).isEqualTo("1111");
    assertThat(onDisk(stack)).as("the least recently used").isEqualTo(21);
    fill(stack, 181, 201);
    assertThat(inMemory(stack)).as("between the marks").isEqualTo(180);
    assertThat(stat(stack).evicted()).isZero();
    assertClosesClean(stack);
  }

  @Test
  void watermarks_leaveBlocksInMemory_whileTheDiskTakesNone_orItsQueueIsFull() {
    TierStack stack = stack(20, OPTIONS.withTiering(Tiering.exact().withWatermarks(0.9, 0.8).withQueue(2, 1L << 40)));
    disk.health(StoreHealth.State.DEGRADED);
    fill(stack, 0, 20);
    assertThat(inMemory(stack)).isEqualTo(20);
    assertThat(stat(stack).evicted()).isZero();

    disk.health(StoreHealth.State.ACTIVE); // a decision; two blocks fill the queue
    assertThat(stat(stack).tiering().mostQueuedBlocks()).isLessThanOrEqualTo(2);
    runTasks();
    stack.expire();
    runTasks();
    stack.expire();
    runTasks();
    assertThat(inMemory(stack)).isEqualTo(16);
    assertClosesClean(stack);
  }

  @Test
  void watermarks_evictNoPinnedBlock_andGoOnWhenThePinsEnd() {
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 20)),
        OPTIONS.withHolds(StackOptions.HoldOptions.defaults().withPinShare(1))
            .withTiering(Tiering.exact().withWatermarks(0.5, 0.25)),
        TierListener.noop());
    try (TierHolds holds = stack.holds("me")) {
      fill(stack, 0, 10);
      holds.pin(keys(0, 10), Pin.soft(Duration.ZERO)).block(SOON);
      fill(stack, 10, 11);
      assertThat(present(stack, 0, 5, 9)).isEqualTo("111");
      holds.pin(keys(0, 10), Pin.none()).block(SOON);
    }
    for (int i = 0; i < 300; i++) {
      stack.expire();
    }
    assertThat(stat(stack).blocks()).isEqualTo(5);
    assertClosesClean(stack);
  }

  @Test
  void exactStack_hasNoWatermarks() {
    TierStack stack = stack(20, OPTIONS.withExact(true).withTiering(Tiering.exact().withWatermarks(0.9, 0.8)));
    fill(stack, 0, 20);
    assertThat(inMemory(stack)).isEqualTo(20);
    assertClosesClean(stack);
  }

  // Prefetch

  @Test
  void leaseThatPrefetches_hasItsBlocksInMemory_beforeTheyAreRead() {
    TierStack stack = stack(8, OPTIONS.withWritePolicy(WritePolicy.WRITE_BACK));
    fill(stack, 0, 24);
    try (TierHolds holds = stack.holds("me")) {
      ReadLease plain = requireNonNull(holds.lease(keys(0, 2), LeaseTerms.defaults()).block(SOON));
      runTasks();
      assertThat(inMemoryNow(stack, 0, 2)).as("without prefetch").isZero();
      holds.release(plain.id()).block(SOON);

      long hits = stat(stack).hits();
      ReadLease lease = requireNonNull(
          holds.lease(keys(0, 6), LeaseTerms.defaults().withPrefetch(true)).block(SOON));
      int leased = lease.leased().count();
      assertThat(leased).isPositive();
      runTasks();
      assertThat(inMemoryNow(stack, 0, leased)).isEqualTo(leased);
      assertThat(stat(stack).hits()).as("nothing was asked for yet").isEqualTo(hits);
      try (BlockScope own = new BlockScope()) { // runs no task: it reads no disk
        Lease read = requireNonNull(holds.read(lease.id(), keys(0, leased), own).block(SOON));
        assertThat(read.windows(8, own).concatMapIterable(window -> window).count().block(SOON)).isEqualTo(leased);
      }
    }
    assertClosesClean(stack);
  }

  @Test
  void leasesThatEnded_takeNoPlaceAmongThePrefetchesThatWait() {
    TierStack stack = stack(8, OPTIONS.withWritePolicy(WritePolicy.WRITE_BACK).withMaxWaiters(2));
    fill(stack, 0, 24);
    LeaseTerms terms = LeaseTerms.defaults().withPrefetch(true);
    try (TierHolds holds = stack.holds("me")) {
      holds.lease(keys(0, 1), terms).block(SOON); // the disk reads it
      for (int i = 0; i < 3; i++) {
        holds.release(requireNonNull(holds.lease(keys(1, 2), terms).block(SOON)).id()).block(SOON);
      }
      holds.lease(keys(2, 3), terms).block(SOON);
      runTasks();
      assertThat(inMemoryNow(stack, 1, 2)).isZero();
      assertThat(inMemoryNow(stack, 2, 3)).isOne();
    }
    assertClosesClean(stack);
  }

  @Test
  void prefetchOfADiskThatIsOff_endsQuietly_andTheNextOneGoesOn() {
    TierStack stack = stack(8, OPTIONS.withWritePolicy(WritePolicy.WRITE_BACK));
    fill(stack, 0, 24);
    try (TierHolds holds = stack.holds("me")) {
      holds.lease(keys(0, 1), LeaseTerms.defaults().withPrefetch(true)).block(SOON);
      disk.health(StoreHealth.State.OFF);
      runTasks();
      disk.health(StoreHealth.State.ACTIVE);
      holds.lease(keys(1, 2), LeaseTerms.defaults().withPrefetch(true)).block(SOON);
      runTasks();
      assertThat(inMemoryNow(stack, 1, 2)).isOne();
    }
    assertClosesClean(stack);
  }

  // Both

  @Test
  void whateverComesAtRandom_everyBlockIsReadable_andNothingIsLeftOver() {
    for (int seed = 0; seed < 18; seed++) {
      atRandom(seed);
    }
  }

  private void atRandom(int seed) {
    Random random = new Random(seed);
    disk.health(StoreHealth.State.ACTIVE);
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 20), new StackLevel.Stored(disk, 24)),
        OPTIONS.withPolicy(EvictionPolicy.values()[seed % EvictionPolicy.values().length])
            .withTiering(Tiering.exact().withWatermarks(0.6, 0.3).withQueue(1 + random.nextInt(8), 1L << 40)),
        TierListener.noop());
    try (TierHolds holds = stack.holds("me")) {
      for (int step = 0; step < 300; step++) {
        List<BlockKey> some = keys(0, 60).subList(random.nextInt(50), 50 + random.nextInt(10));
        some = some.subList(0, Math.min(some.size(), 1 + random.nextInt(6)));
        switch (random.nextInt(10)) {
          case 0, 1, 2 -> committed(stack, some).onErrorComplete().subscribe();
          case 3 -> holds.lease(some, LeaseTerms.defaults().withPrefixOnly(false).withPrefetch(true))
              .onErrorComplete().subscribe();
          case 4 -> holds.pin(some, random.nextBoolean() ? Pin.soft(Duration.ZERO) : Pin.none()).onErrorComplete()
              .subscribe();
          case 5 -> stack.remove(some).subscribe();
          case 6 -> disk.health(random.nextInt(4) == 0 ? StoreHealth.State.DEGRADED : StoreHealth.State.ACTIVE);
          default -> {
            if (!tasks.isEmpty()) {
              tasks.remove().run();
            }
          }
        }
        assertThat(inMemory(stack)).as("seed %d, step %d", seed, step).isLessThanOrEqualTo(20);
      }
      disk.health(StoreHealth.State.ACTIVE);
      runTasks();
    }
    for (int i = 0; i < 60; i++) {
      if (present(stack, i).equals("1")) {
        read(stack, i);
      }
      runTasks();
    }
    assertThat(stat(stack).tiering().aboveWatermark()).as("seed %d", seed).isPositive();
    assertThat(stat(stack).holds().leasedBlocks()).as("seed %d", seed).isZero();
    assertClosesClean(stack);
  }

  private static int inMemoryNow(TierStack stack, int from, int to) {
    int here = 0;
    for (BlockKey key : keys(from, to)) {
      Block copy = stack.hostCopy(key);
      if (copy != null) {
        copy.close();
        here++;
      }
    }
    return here;
  }
}
