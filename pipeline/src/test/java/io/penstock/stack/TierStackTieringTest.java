package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.OffloadRule;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;

/// Stacks that leave the textbook for the sake of their disk.
@Timeout(30)
final class TierStackTieringTest extends StackSteps {
  private static final StackOptions.Tiering EXACT = StackOptions.Tiering.exact();

  private final AtomicLong nanos = new AtomicLong();
  private final MemoryStore disk = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);

  @Test
  void blockThatWasNotUsed_leavesAsEvicted_andTakesNoPlaceOnTheDisk() {
    TierStack stack = stack(2, 1, EXACT.withOffload(OffloadRule.usedAtLeast(1)));
    put(stack, 0);
    read(stack, 0);
    put(stack, 1);
    put(stack, 2); // 0 is demoted: it was used
    runTasks();
    put(stack, 3); // 1 leaves: it was not, and 0 keeps the only place
    runTasks();
    assertThat(present(stack, 0, 1, 2, 3)).isEqualTo("1011");
    assertThat(stat(stack).evicted()).isEqualTo(1);
    assertThat(stack.events(0).take(5).filter(event -> event instanceof TierEvent.Evicted)
        .map(event -> ((TierEvent.Evicted) event).key())
        .collectList().block(SOON)).containsExactly(key(1));
    assertClosesClean(stack);
  }

  @Test
  void callersRule_isAsked() {
    TierStack stack = stack(1, 8, EXACT.withOffload((key, uses) -> key.equals(key(1))));
    for (int i = 0; i < 4; i++) {
      put(stack, i);
      runTasks();
    }
    assertThat(present(stack, 0, 1, 2, 3)).isEqualTo("0101");
    assertClosesClean(stack);
  }

  @Test
  void blockOnDisk_isPromotedAtItsNthHit() {
    TierStack stack = stack(1, 4, EXACT.withPromoteAtHit(2));
    put(stack, 0);
    put(stack, 1);
    runTasks();
    read(stack, 0);
    runTasks();
    assertThat(blocks(stack)).as("block 0 stays below").containsExactly(1L, 1L);
    assertThat(stack.hostCopy(key(0))).isNull();
    assertThat(tiering(stack).held()).isEqualTo(1);

    read(stack, 0);
    runTasks();
    try (var copy = requireNonNull(stack.hostCopy(key(0)), "promoted")) {
      Blocks.assertBytes(copy);
    }
    assertThat(tiering(stack).held()).isEqualTo(1);
    assertThat(present(stack, 0, 1)).isEqualTo("11");
    assertClosesClean(stack);
  }

  @Test
  void blockThatStaysOnDisk_isTheLastToLeaveIt() {
    TierStack stack = stack(1, 2, EXACT.withPromoteAtHit(2));
    for (int i = 0; i < 3; i++) {
      put(stack, i);
    }
    runTasks();
    read(stack, 0);
    put(stack, 3); // 2 is demoted, one of 0 and 1 leaves
    runTasks();
    assertThat(present(stack, 0, 1, 2, 3)).isEqualTo("1011");
    assertClosesClean(stack);
  }

  @Test
  void fullQueue_withholdsReservations_inOrder_untilTheDiskTook() {
    TierStack stack = stack(1, 8, EXACT.withQueue(2, StackOptions.Tiering.UNBOUNDED));
    put(stack, 0);
    put(stack, 1);
    put(stack, 2);
    assertThat(tiering(stack).queuedBlocks()).isEqualTo(2);
    try (BlockScope scope = new BlockScope()) {
      AtomicReference<Reservation> first = new AtomicReference<>();
      AtomicReference<Reservation> second = new AtomicReference<>();
      stack.reserve(List.of(key(3)), scope).subscribe(first::set);
      Disposable gone = stack.reserve(List.of(key(9)), scope).subscribe(never -> {
        throw new AssertionError("a cancelled reservation must not be served");
      });
      stack.reserve(List.of(key(4)), scope).subscribe(second::set);
      assertThat(first).hasNullValue();
      gone.dispose();
      nanos.addAndGet(5_000_000);
      tasks.remove().run(); // the disk took one
      assertThat(first).doesNotHaveNullValue();
      assertThat(present(stack, 0, 1, 2)).isEqualTo("111");
      runTasks();
      assertThat(second).doesNotHaveNullValue();
    }
    TierStat.Tiering stat = tiering(stack);
    assertThat(stat.mostQueuedBlocks()).isEqualTo(2);
    assertThat(stat.queueBlocks()).isEqualTo(2);
    assertThat(stat.queuedBlocks()).isZero();
    assertThat(stat.withheld()).isEqualTo(3);
    assertThat(stat.longestMillis()).isEqualTo(5);
    assertThat(stat.queueMillis()).isEqualTo(10);
    assertClosesClean(stack);
  }

  @Test
  void queue_isBoundedInBytes_andLetsInOneThatIsLargerWhenItIsEmpty() {
    long blockBytes = SPACE.layout().blockBytes();
    TierStack stack = stack(1, 8, EXACT.withQueue(StackOptions.Tiering.UNBOUNDED, 2 * blockBytes + 1));
    assertThat(tiering(stack).queueBlocks()).isEqualTo(2);
    try (BlockScope scope = new BlockScope()) {
      assertThat(requireNonNull(stack.reserve(List.of(key(0), key(1), key(2)), scope).block(SOON)).drafts()).hasSize(3);
    }
    assertClosesClean(stack);
  }

  @Test
  void fullQueue_thatTooManyWaitFor_refuses_andItsWaitersHearOfTheClose() {
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 1), new StackLevel.Stored(disk, 8)),
        options(EXACT.withQueue(1, StackOptions.Tiering.UNBOUNDED)).withMaxWaiters(1), TierListener.noop(), nanos::get);
    put(stack, 0);
    put(stack, 1);
    AtomicReference<Throwable> refused = new AtomicReference<>();
    AtomicReference<Throwable> closed = new AtomicReference<>();
    try (BlockScope scope = new BlockScope()) {
      stack.reserve(List.of(key(2)), scope).subscribe(any -> {}, closed::set);
      stack.reserve(List.of(key(3)), scope).subscribe(any -> {}, refused::set);
      assertThat(refused.get()).isInstanceOf(BudgetExhaustedException.class);
      stack.close().subscribe();
      assertThat(closed.get()).isInstanceOf(TierClosedException.class);
    }
    assertClosesClean(stack);
  }

  @Test
  void nextBlocksOfARequest_areReadAhead_andCounted() {
    TierStack stack = stack(1, 16, EXACT.withPrefetchBlocks(2));
    for (int i = 0; i < 8; i++) {
      put(stack, i);
      runTasks();
    }
    try (BlockScope scope = new BlockScope()) {
      Lease lease = requireNonNull(stack.lease(keys(0, 1, 2, 3), OnMiss.SKIP, scope).block(SOON));
      Windows windows = new Windows();
      lease.slicedWindows(SliceShape.defaults().withWindowBlocks(1), scope).subscribe(windows);
      assertThat(tiering(stack).prefetched()).as("nothing before the first").isZero();
      windows.request(1);
      runTasks();
      assertThat(windows.taken).isEqualTo(1);
      assertThat(tiering(stack).prefetched()).as("one window, no more").isEqualTo(1);
      windows.request(1);
      assertThat(windows.taken).as("it is here").isEqualTo(2);
      assertThat(tiering(stack).useful()).isEqualTo(1);
      runTasks();
      windows.cancel();
    }
    runTasks();
    TierStat.Tiering stat = tiering(stack);
    assertThat(stat.prefetched()).isEqualTo(stat.useful() + stat.wasted());
    assertThat(stat.wasted()).isPositive();
    assertThat(present(stack, 0, 1, 2, 3)).isEqualTo("1111");
    assertClosesClean(stack);
  }

  @Test
  void nextBlocks_ofADiskThatIsOff_areNotReadAhead_andAreReadWhenItIsBack() {
    FaultyStore weak = new FaultyStore(disk);
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 1), new StackLevel.Stored(weak, 8)),
        options(EXACT.withPrefetchBlocks(1)),
        TierListener.noop(), nanos::get);
    put(stack, 0);
    put(stack, 1);
    runTasks();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = requireNonNull(stack.lease(keys(1, 0), OnMiss.SKIP, scope).block(SOON));
      Windows windows = new Windows();
      lease.slicedWindows(SliceShape.defaults().withWindowBlocks(1), scope).subscribe(windows);
      windows.reads = true;
      weak.health(StoreHealth.State.OFF);
      windows.request(1);
      assertThat(windows.taken).as("1 is in memory").isEqualTo(1);
      assertThat(tiering(stack).prefetched()).isZero();
      weak.health(StoreHealth.State.ACTIVE);
      windows.request(1);
      runTasks();
      assertThat(windows.taken).isEqualTo(2);
      assertThat(windows.bytes).as("bytes of both").isEqualTo(2L * SPACE.layout().blockBytes());
    }
    assertClosesClean(stack);
  }

  @Test
  void storeWithoutRoom_getsBackCopiesFirst_thenTheNextVictims() {
    TierStack stack = stack(2, 8, EXACT);
    for (int i = 0; i < 5; i++) {
      put(stack, i);
      runTasks();
    }
    read(stack, 0); // promoted, with a copy below; 3 was demoted
    runTasks();
    assertThat(storedBlocks(stack)).isEqualTo(4);
    assertThat(disk.shortage(2)).isEqualTo(2);
    assertThat(present(stack, 0, 1, 2, 3, 4)).as("1 and 2 were next").isEqualTo("10011");
    assertThat(disk.shortage(9)).isEqualTo(2);
    assertThat(present(stack, 0, 3, 4)).as("0 keeps its bytes in memory").isEqualTo("101");
    assertThat(storedBlocks(stack)).isZero();
    assertThat(disk.shortage(1)).isZero();
    assertThat(tiering(stack).evictedForRoom()).isEqualTo(4);
    assertThat(stat(stack).evicted()).isEqualTo(3);
    assertClosesClean(stack);
  }

  /// Takes windows and reads them to their end, or not at all.
  private static final class Windows extends BaseSubscriber<LeasedWindow> {
    private boolean reads;
    private int taken;
    private long bytes;

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      // nothing is asked for yet
    }

    @Override
    protected void hookOnNext(LeasedWindow window) {
      taken++;
      if (reads) {
        window.slices(0).subscribe(slice -> {
          bytes += slice.bytes();
          slice.close();
        });
      } else {
        window.close();
      }
    }
  }

  private TierStack stack(long dram, long ssd, StackOptions.Tiering tiering) {
    return new TierStack(SPACE, List.of(new StackLevel.Host("dram", dram), new StackLevel.Stored(disk, ssd)),
        options(tiering),
        TierListener.noop(),
        nanos::get);
  }

  private static StackOptions options(StackOptions.Tiering tiering) {
    return StackOptions.defaults("stack").withIngressBlocks(8).withTransferBlocks(8).withPromotionBlocks(4)
        .withBounceBlocks(1)
        .withBatchBlocks(1).withTiering(tiering);
  }

  private static List<Long> blocks(TierStack stack) {
    return stat(stack).levels().stream().map(TierStat.Level::blocks).toList();
  }

  private static long storedBlocks(TierStack stack) {
    return stat(stack).levels().getLast().storedBlocks();
  }

  private static TierStat.Tiering tiering(TierStack stack) {
    return stat(stack).tiering();
  }

  private static List<BlockKey> keys(int... numbers) {
    return Arrays.stream(numbers).mapToObj(TierStackTieringTest::key).toList();
  }
}
