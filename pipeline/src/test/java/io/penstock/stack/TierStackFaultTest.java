package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SliceShape;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/// Stacks whose stores fail, whose listeners throw, or that close in the middle of something: nothing hangs, nothing
/// stays lent.
@Timeout(30)
final class TierStackFaultTest extends StackSteps {
  private final FaultyStore disk =
      new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run));
  private final MemoryStore slowDisk = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
  private final MemoryStore memoryDevice = new MemoryStore("hbm", Medium.DEVICE, SPACE, 1, Runnable::run);
  private final FaultyStore device = new FaultyStore(memoryDevice);
  private final MemoryStore slowDevice = new MemoryStore("hbm", Medium.DEVICE, SPACE, 1, tasks::add);

  /// Ways in which a store does not do what it was asked for.
  enum Fault {
    THROWS, FAILS, ANSWERS_NOTHING;

    <T> Mono<T> in(Mono<T> answer) {
      return switch (this) {
        case THROWS -> throw new IllegalStateException("thrown");
        case FAILS -> Mono.error(new IllegalStateException("failed"));
        case ANSWERS_NOTHING -> Mono.empty();
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void commitWrittenThrough_toAStoreThatFails_freesKeysAndMemoryAtOnce(Fault fault) {
    TierStack stack = written(new StackLevel.Stored(disk, 4));
    try (BlockScope scope = new BlockScope()) {
      Lease lease = requireNonNull(stack.lease(List.of(key(0)), OnMiss.ADMIT, scope).block(SOON));
      Reservation failing = reserved(stack, 0, scope);
      disk.puts(fault::in);
      failing.drafts().forEach(Blocks::produce);
      assertThatThrownBy(() -> failing.commit(failing.drafts()).block(SOON)).isInstanceOf(IllegalStateException.class);
      assertThat(lease.windows(1, scope).count().block(SOON)).as("it is written no more").isZero();
      disk.mend();
      Reservation next = reserved(stack, 0, scope);
      assertThat(next.drafts()).as("the key is free").hasSize(1);
      next.drafts().forEach(Blocks::produce);
      assertThat(requireNonNull(next.commit(next.drafts()).block(SOON))).hasSize(1);
    }
    assertClosesClean(stack);
  }

  @ParameterizedTest
  @EnumSource
  void blockBeingDemoted_toAStoreThatFails_isLostAlone(Fault fault) {
    TierStack stack = exclusive(new StackLevel.Host("dram", 1), new StackLevel.Stored(disk, 4));
    put(stack, 0);
    disk.puts(fault::in);
    put(stack, 1);
    disk.mend();
    put(stack, 2);
    assertThat(present(stack, 0, 1, 2)).as("the one that the disk did not take").isEqualTo("011");
    assertThat(stack.movingBlocks()).isZero();
    assertThat(history(stack)).filteredOn(TierEvent.Lost.class::isInstance).singleElement()
        .satisfies(lost -> assertThat(((TierEvent.Lost) lost).key()).isEqualTo(key(0)));
    read(stack, 1);
    assertClosesClean(stack);
  }

  @ParameterizedTest
  @EnumSource
  void blockOnDisk_whoseDeviceFails_isNotLost(Fault fault) {
    TierStack stack = written(new StackLevel.Stored(device, 1), new StackLevel.Stored(disk, 4));
    device.puts(fault::in);
    put(stack, 0);
    assertThat(present(stack, 0)).as("it was receipted as written").isEqualTo("1");
    assertThat(stack.movingBlocks()).isZero();
    read(stack, 0);
    device.mend();
    read(stack, 0);
    assertThat(levels(stack)).extracting(TierStat.Level::storedBlocks).as("a read promotes it").containsExactly(1L, 1L);
    assertClosesClean(stack);
  }

  @ParameterizedTest
  @EnumSource(names = {"THROWS", "FAILS"})
  void blockToDemoteFromADevice_thatDoesNotGiveIt_isLostAlone(Fault fault) {
    TierStack stack = exclusive(new StackLevel.Stored(device, 1), new StackLevel.Host("dram", 2));
    put(stack, 0);
    device.reads(fault::in);
    put(stack, 1);
    device.mend();
    put(stack, 2);
    assertThat(present(stack, 0, 1, 2)).isEqualTo("011");
    assertThat(stack.movingBlocks()).isZero();
    read(stack, 1);
    assertClosesClean(stack);
  }

  @Test
  void blockToDemote_readOnlyInPart_isLostAndNothingStuck() {
    TierStack stack = exclusive(new StackLevel.Stored(device, 1), new StackLevel.Host("dram", 2));
    put(stack, 0);
    device.reads(read -> Mono.empty()); // says that it is done, and did nothing
    put(stack, 1);
    device.mend();
    put(stack, 2);
    assertThat(present(stack, 0, 1, 2)).isEqualTo("011");
    assertThat(stack.movingBlocks()).isZero();
    assertClosesClean(stack);
  }

  @Test
  void lease_whoseStoreThrowsBetweenItsKeys_endsWithNothingHeld() {
    TierStack stack = exclusive(new StackLevel.Host("dram", 1), new StackLevel.Stored(disk, 4));
    put(stack, 0);
    put(stack, 1);
    disk.numbers(key -> {
      throw new IllegalStateException("thrown");
    });
    try (BlockScope scope = new BlockScope()) {
      assertThatThrownBy(() -> stack.lease(List.of(key(2), key(0)), OnMiss.ADMIT, scope).block(SOON))
          .isInstanceOf(IllegalStateException.class).hasMessage("thrown");
      assertThat(stack.hostCopy(key(1))).as("the block that the first key demoted").isNull();
      assertThat(levels(stack)).extracting(TierStat.Level::storedBlocks).containsExactly(0L, 2L);
      disk.mend();
      Lease next = requireNonNull(stack.lease(List.of(key(2)), OnMiss.ADMIT, scope).block(SOON));
      assertThat(next.admitted().count()).as("keys that the failed lease admitted, and this one now").isOne();
    }
    read(stack, 0);
    read(stack, 1);
    assertClosesClean(stack);
  }

  @Test
  void reservation_whoseStoreThrowsAsItEvicts_freesItsKeys() {
    TierStack stack = exclusive(new StackLevel.Host("dram", 1), new StackLevel.Stored(disk, 1));
    put(stack, 0);
    put(stack, 1);
    disk.numbers(key -> {
      throw new IllegalStateException("thrown");
    });
    assertThatThrownBy(() -> put(stack, 2)).isInstanceOf(IllegalStateException.class).hasMessage("thrown");
    disk.mend();
    put(stack, 2);
    assertThat(present(stack, 0, 1, 2)).isEqualTo("011");
    read(stack, 2);
    assertClosesClean(stack);
  }

  @Test
  void slices_ofAWindowClosedWhileItIsRead_end() {
    TierStack stack = exclusive(new StackLevel.Host("dram", 1), new StackLevel.Stored(slowDisk, 4));
    put(stack, 0);
    put(stack, 1);
    runTasks();
    AtomicReference<Throwable> end = new AtomicReference<>();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = requireNonNull(stack.lease(List.of(key(0)), OnMiss.SKIP, scope).block(SOON));
      lease.slicedWindows(new SliceShape(1, 64, SliceShape.Order.LAYER_FIRST, 0), scope)
          .concatMap(window -> window.slices(0))
          .subscribe(LayerSlice::close, end::set);
    }
    runTasks();
    assertThat(end.get()).isInstanceOf(CancellationException.class);
    assertClosesClean(stack);
  }

  @Test
  void listenerTold_ofAWindowThatCannotBeSealed_holdsNoLockOfIt() {
    FaultyStore forgetful = new FaultyStore(slowDisk);
    BlockScope scope = new BlockScope();
    AtomicReference<Throwable> stuck = new AtomicReference<>(new AssertionError("never told"));
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Stored(forgetful, 4)), options(), new TierListener() {
      @Override
      public void lost(int blocks) {
        try { // closes the window, which takes its lock
          CompletableFuture.runAsync(scope::close).get(5, TimeUnit.SECONDS);
          stuck.set(null);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
          stuck.set(e);
        }
      }
    });
    put(stack, 0);
    runTasks();
    forgetful.reads(read -> Mono.create(sink -> tasks.add(sink::success))); // says that it is done, and did nothing
    Lease lease = requireNonNull(stack.lease(List.of(key(0)), OnMiss.SKIP, scope).block(SOON));
    lease.slicedWindows(new SliceShape(1, 64, SliceShape.Order.LAYER_FIRST, 0), scope).subscribe(window -> {},
        error -> {});
    runTasks();
    assertThat(stuck.get()).isNull();
    assertClosesClean(stack);
  }

  @Test
  void windowWaitingForMemory_whenTheStackCloses_hearsSo() {
    TierStack stack = exclusive(new StackLevel.Host("dram", 1), new StackLevel.Stored(slowDisk, 4));
    put(stack, 0);
    put(stack, 1);
    put(stack, 2);
    runTasks();
    AtomicReference<Throwable> end = new AtomicReference<>();
    try (BlockScope scope = new BlockScope(); BlockScope other = new BlockScope()) {
      requireNonNull(stack.lease(List.of(key(0)), OnMiss.SKIP, scope).block(SOON)).windows(1, scope).subscribe();
      requireNonNull(stack.lease(List.of(key(1)), OnMiss.SKIP, other).block(SOON)).windows(1, other)
          .subscribe(window -> {}, end::set);
      stack.close().subscribe();
      runTasks();
    }
    assertThat(end.get()).isInstanceOf(TierClosedException.class);
    assertClosesClean(stack);
  }

  @Test
  void close_whileABlockIsDemoted_givesItsMemoryBack() {
    TierStack stack = exclusive(new StackLevel.Stored(slowDevice, 1), new StackLevel.Host("dram", 2));
    put(stack, 0);
    runTasks();
    put(stack, 1);
    put(stack, 2);
    stack.close().subscribe();
    runTasks();
    assertClosesClean(stack);
    assertThat(slowDevice.storedBlocks()).isZero();
  }

  @Test
  void close_whileAnEvictedBlockIsCopied_givesItsMemoryBack() {
    TierStack stack = exclusive(new StackLevel.Host("dram", 1), new StackLevel.Stored(slowDisk, 1));
    put(stack, 0);
    put(stack, 1);
    put(stack, 2); // evicts 0, which is on its way to the disk
    stack.close().subscribe();
    runTasks();
    assertClosesClean(stack);
  }

  @Test
  void close_withQueuesOfCopies_startsNoneOfThem() {
    MemoryStore roomy = new MemoryStore("hbm", Medium.DEVICE, SPACE, 4, tasks::add);
    TierStack stack =
        new TierStack(SPACE, List.of(new StackLevel.Stored(roomy, 4)),
            options().withIngressBlocks(4).withBatchBlocks(1),
            TierListener.noop());
    for (int i = 0; i < 4; i++) {
      put(stack, i);
    }
    stack.close().subscribe();
    runTasks();
    assertClosesClean(stack);
  }

  @Test
  void close_givesTheDevicesMemoryBack_andLeavesWhatIsOnDisk() {
    MemoryStore ssd = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run);
    TierStack stack = exclusive(new StackLevel.Stored(memoryDevice, 1), new StackLevel.Stored(ssd, 4));
    put(stack, 0);
    put(stack, 1);
    assertClosesClean(stack);
    assertThat(memoryDevice.storedBlocks()).isZero();
    assertThat(ssd.storedBlocks()).isEqualTo(1);
  }

  @Test
  void close_again_waitsForTheFirst() {
    TierStack stack = exclusive(new StackLevel.Host("dram", 1), new StackLevel.Stored(slowDisk, 4));
    put(stack, 0);
    put(stack, 1);
    AtomicReference<Boolean> second = new AtomicReference<>(false);
    stack.close().subscribe();
    stack.close().doOnSuccess(nothing -> second.set(true)).subscribe();
    assertThat(second.get()).as("a copy is under way").isFalse();
    runTasks();
    assertThat(second.get()).isTrue();
    assertClosesClean(stack);
  }

  @Test
  void recovery_writtenThrough_keepsAllThatTheDiskHolds() {
    MemoryStore ssd = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run);
    TierStack first = written(new StackLevel.Host("dram", 2), new StackLevel.Stored(ssd, 4));
    for (int i = 0; i < 4; i++) {
      put(first, i);
    }
    first.close().block(SOON);
    TierStack again = written(new StackLevel.Host("dram", 2), new StackLevel.Stored(ssd.reopened(), 4));
    assertThat(present(again, 0, 1, 2, 3)).isEqualTo("1111");
    put(again, 4);
    assertThat(present(again, 0, 1, 2, 3, 4)).as("the oldest goes first").isEqualTo("01111");
    read(again, 3);
    assertThat(levels(again)).extracting(TierStat.Level::storedBlocks).as("a read promotes it").containsExactly(2L, 4L);
    assertClosesClean(again);
  }

  @Test
  void recovery_ofABlockOnTwoDisks_keepsBothCopies() {
    MemoryStore ssd = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run);
    MemoryStore hdd = new MemoryStore("hdd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run);
    TierStack first = written(new StackLevel.Stored(ssd, 1), new StackLevel.Stored(hdd, 4));
    put(first, 0);
    assertThat(levels(first)).extracting(TierStat.Level::storedBlocks).containsExactly(1L, 1L);
    first.close().block(SOON);
    TierStack again = written(new StackLevel.Stored(ssd.reopened(), 1), new StackLevel.Stored(hdd.reopened(), 4));
    assertThat(levels(again)).extracting(TierStat.Level::storedBlocks).containsExactly(1L, 1L);
    assertClosesClean(again);
  }

  @Test
  void manyMovesAtOnce_toAStoreThatAnswersAtOnce_doNotDeepenTheStack() {
    int many = 20_000;
    TierStack stack =
        new TierStack(SPACE, List.of(new StackLevel.Host("dram", many), new StackLevel.Stored(disk, many)),
            options().withIngressBlocks(many).withBatchBlocks(1), TierListener.noop());
    putAll(stack, Blocks.keys(SPACE, 0, many));
    putAll(stack, Blocks.keys(SPACE, many, 2L * many));
    assertThat(levels(stack)).extracting(TierStat.Level::storedBlocks).containsExactly((long) many, (long) many);
    assertClosesClean(stack);
  }

  @Test
  void blockOfManyLayers_fromAStoreThatAnswersAtOnce_doesNotDeepenTheStack() {
    CacheSpace deep = CacheSpace.of("deep", BlockLayout.attention(10_000, 1, 1, 1, ElementType.BF16));
    MemoryStore ssd = new MemoryStore("ssd", Medium.DISK, deep, Long.MAX_VALUE, Runnable::run);
    TierStack stack = new TierStack(deep, List.of(new StackLevel.Stored(ssd, 4)), options(), TierListener.noop());
    BlockKey key = Blocks.key(deep, 0);
    putAll(stack, List.of(key));
    try (BlockScope scope = new BlockScope()) {
      Lease lease = requireNonNull(stack.lease(List.of(key), OnMiss.SKIP, scope).block(SOON));
      assertThat(
          lease.slicedWindows(new SliceShape(1, 4, SliceShape.Order.LAYER_FIRST, 0), scope)
              .concatMap(window -> window.slices(0))
              .doOnNext(LayerSlice::close).count().block(SOON))
          .isGreaterThan(1_000);
    }
    assertClosesClean(stack);
  }

  @Test
  void reads_whileTheStoresThreadSeals_neverGetHalfAWindow() {
    reads_whileTheStoresThreadSeals_neverGetHalfAWindow(4_000);
  }

  @Tag("proof")
  @Test
  void reads_whileTheStoresThreadSeals_neverGetHalfAWindow_atLength() {
    reads_whileTheStoresThreadSeals_neverGetHalfAWindow(20_000);
  }

  private void reads_whileTheStoresThreadSeals_neverGetHalfAWindow(int reads) {
    try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
      TierStack stack =
          exclusive(new StackLevel.Stored(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, thread), 4));
      put(stack, 0);
      for (int i = 0; i < reads; i++) {
        read(stack, 0);
      }
      assertClosesClean(stack);
    }
  }

  @Test
  void listenerThatThrows_disturbsNoCaller() {
    Thread thread = Thread.currentThread();
    Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    AtomicReference<Throwable> heard = new AtomicReference<>();
    thread.setUncaughtExceptionHandler((any, error) -> heard.set(error));
    try {
      TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 1)), options(), new TierListener() {
        @Override
        public void referenced(int references, int hits) {
          throw new IllegalStateException("listener");
        }
      });
      put(stack, 0);
      read(stack, 0);
      assertThat(heard.get()).hasMessage("listener");
      assertClosesClean(stack);
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
  }

  private static StackOptions options() {
    return StackOptions.defaults("stack").withIngressBlocks(3).withTransferBlocks(1).withPromotionBlocks(1)
        .withBounceBlocks(1);
  }

  private static TierStack exclusive(StackLevel... levels) {
    return new TierStack(SPACE, List.of(levels), options(), TierListener.noop());
  }

  private static TierStack written(StackLevel... levels) {
    return new TierStack(SPACE, List.of(levels), options().withMode(StackOptions.Mode.WRITE_THROUGH),
        TierListener.noop());
  }

  private static Reservation reserved(TierStack stack, int number, BlockScope scope) {
    return requireNonNull(stack.reserve(List.of(key(number)), scope).block(SOON));
  }
}
