package io.penstock.stack;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.stack.TierStackFaultTest.Fault;
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
import io.penstock.tier.spi.StoreBusyException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/// What becomes of blocks that a store was asked for: they are promoted, or they are a miss from then on, but never an
/// error for good.
@Timeout(30)
final class TierStackReadTest extends StackSteps {
  private final MemoryStore slowDisk = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
  private final FaultyStore disk =
      new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run));

  @ParameterizedTest
  @EnumSource
  void read_ofAStoreThatFails_isAnErrorOnce_thenAMiss(Fault fault) {
    TierStack stack =
        stack(StackOptions.Mode.EXCLUSIVE, new StackLevel.Host("dram", 1), new StackLevel.Stored(disk, 4));
    put(stack, 0);
    put(stack, 1);
    disk.reads(fault::in);
    assertThatThrownBy(() -> read(stack, 0)).isInstanceOf(RuntimeException.class);
    assertThat(present(stack, 0)).isEqualTo("0");
    assertThat(stack.events(0).filter(TierEvent.Lost.class::isInstance).blockFirst(SOON)).isNotNull();
    disk.mend();
    put(stack, 0);
    read(stack, 0);
    assertClosesClean(stack);
  }

  @ParameterizedTest
  @EnumSource
  void read_ofOneOfTwoStores_looksAtTheOtherFromThenOn(Fault fault) {
    FaultyStore device = new FaultyStore(new MemoryStore("hbm", Medium.DEVICE, SPACE, 1, Runnable::run));
    TierStack stack =
        stack(StackOptions.Mode.WRITE_THROUGH, new StackLevel.Stored(device, 1), new StackLevel.Stored(disk, 4));
    put(stack, 0);
    device.reads(fault::in);
    assertThatThrownBy(() -> read(stack, 0)).isInstanceOf(RuntimeException.class);
    read(stack, 0);
    assertThat(present(stack, 0)).isEqualTo("1");
    assertClosesClean(stack);
  }

  @Test
  void read_ofABusyStore_isAnErrorAndTheBlockStays() {
    TierStack stack =
        stack(StackOptions.Mode.EXCLUSIVE, new StackLevel.Host("dram", 1), new StackLevel.Stored(disk, 4));
    put(stack, 0);
    put(stack, 1);
    disk.reads(read -> Mono.error(new StoreBusyException("busy", Mono.never())));
    assertThatThrownBy(() -> read(stack, 0)).isInstanceOf(StoreBusyException.class);
    disk.mend();
    read(stack, 0);
    assertClosesClean(stack);
  }

  @Test
  void commits_toAStoreThatTakesOnePut_waitForTheirTurn_gathered() {
    AtomicInteger open = new AtomicInteger();
    AtomicInteger puts = new AtomicInteger();
    FaultyStore narrow = new FaultyStore(slowDisk).puts(put -> {
      puts.incrementAndGet();
      return open.incrementAndGet() > 1
          ? Mono.error(new StoreBusyException("busy", Mono.never()))
          : put.doOnTerminate(open::decrementAndGet);
    });
    TierStack stack =
        stack(StackOptions.Mode.WRITE_THROUGH, new StackLevel.Host("dram", 4), new StackLevel.Stored(narrow, 8));
    AtomicInteger receipts = new AtomicInteger();
    AtomicReference<Throwable> error = new AtomicReference<>();
    try (BlockScope scope = new BlockScope()) {
      for (int i = 0; i < 3; i++) {
        Reservation reservation = reserved(stack, i, scope);
        reservation.commit(reservation.drafts()).subscribe(got -> receipts.addAndGet(got.size()), error::set);
      }
      runTasks();
    }
    assertThat(error.get()).isNull();
    assertThat(receipts).hasValue(3);
    assertThat(puts).as("the first alone, then those who waited").hasValue(2);
    assertClosesClean(stack);
  }

  @Test
  void commits_thatWait_whenTheStackCloses_hearSo() {
    TierStack stack =
        stack(StackOptions.Mode.WRITE_THROUGH, new StackLevel.Host("dram", 4), new StackLevel.Stored(slowDisk, 8));
    AtomicReference<Throwable> second = new AtomicReference<>();
    try (BlockScope scope = new BlockScope()) {
      Reservation first = reserved(stack, 0, scope);
      Reservation waiting = reserved(stack, 1, scope);
      first.commit(first.drafts()).subscribe(got -> {}, error -> {});
      waiting.commit(waiting.drafts()).subscribe(got -> {}, second::set);
      stack.close().subscribe();
      assertThat(second.get()).isInstanceOf(TierClosedException.class);
    }
    assertClosesClean(stack);
  }

  @Test
  void commit_besideOneOfADamagedBlock_succeeds() {
    TierStack stack =
        stack(StackOptions.Mode.WRITE_THROUGH, new StackLevel.Host("dram", 4), new StackLevel.Stored(slowDisk, 8));
    AtomicReference<Throwable> damaged = new AtomicReference<>();
    AtomicInteger receipts = new AtomicInteger();
    try (BlockScope scope = new BlockScope()) {
      for (int i = 0; i < 4; i++) { // the first is put alone, the others together
        Reservation reservation = requireNonNull(stack.reserve(List.of(key(i)), scope).block(SOON));
        MemorySegment bytes = produced(reservation.drafts().getFirst());
        reservation.commit(reservation.drafts()).subscribe(got -> receipts.addAndGet(got.size()), damaged::set);
        if (i == 2) {
          bytes.set(JAVA_BYTE, 70, (byte) (bytes.get(JAVA_BYTE, 70) ^ 1));
        }
      }
      runTasks();
    }
    assertThat(damaged.get()).isInstanceOfSatisfying(BlockCorruptException.class,
        e -> assertThat(e.key()).isEqualTo(key(2)));
    assertThat(receipts).hasValue(3);
    assertClosesClean(stack);
  }

  /// Where the bytes of `draft` are.
  private static MemorySegment produced(BlockDraft draft) {
    AtomicReference<MemorySegment> bytes = new AtomicReference<>();
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, memory -> {
      Blocks.fill(draft.key(), 0, memory);
      bytes.set(memory);
    });
    draft.produced(all);
    return requireNonNull(bytes.get());
  }

  @Test
  void windowFromALaterLayer_bringsTheWholeBlockUp() {
    TierStack stack =
        stack(StackOptions.Mode.EXCLUSIVE, new StackLevel.Host("dram", 1), new StackLevel.Stored(slowDisk, 4));
    put(stack, 0);
    put(stack, 1);
    runTasks();
    assertThat(slicesFrom(stack, 0, 1)).isPositive();
    assertThat(hostCopy(stack, 0)).as("in memory, though its first layer was not asked for").isTrue();
    assertClosesClean(stack);
  }

  @Test
  void windowFromALaterLayer_ofBlocksThatStayWhereTheyAre_readsNoMore() {
    AtomicInteger reads = new AtomicInteger();
    disk.reads(read -> {
      reads.incrementAndGet();
      return read;
    });
    TierStack stack = stack(StackOptions.Mode.EXCLUSIVE, new StackLevel.Stored(disk, 4));
    put(stack, 0);
    int slices = slicesFrom(stack, 0, 1);
    assertThat(reads).as("a read for each slice").hasValue(slices);
    read(stack, 0);
    assertClosesClean(stack);
  }

  @Test
  void hostCopy_thatCameWhileAWindowWaited_isVerified() {
    MemoryStore device = new MemoryStore("hbm", Medium.DEVICE, SPACE, 1, tasks::add);
    TierStack stack =
        stack(StackOptions.Mode.EXCLUSIVE, new StackLevel.Stored(device, 1), new StackLevel.Host("dram", 2));
    put(stack, 1);
    runTasks();
    AtomicReference<Throwable> end = new AtomicReference<>();
    BlockScope first = new BlockScope();
    try (BlockScope second = new BlockScope()) {
      requireNonNull(stack.lease(List.of(key(1)), OnMiss.SKIP, first).block(SOON)).windows(1, first).subscribe();
      stack.remove(List.of(key(1))).block(SOON);
      runTasks(); // it is gone, and its reader has the only slot for windows
      put(stack, 0);
      runTasks();
      requireNonNull(stack.lease(List.of(key(0)), OnMiss.SKIP, second).block(SOON)).windows(1, second)
          .subscribe(window -> {}, end::set);
      put(stack, 2);
      runTasks();
      try (Block demoted = requireNonNull(stack.hostCopy(key(0)), "the first block made room for the last")) {
        Blocks.corrupt(demoted, 70);
      }
      first.close();
      runTasks();
    } finally {
      first.close();
    }
    assertThat(end.get()).isInstanceOf(BlockCorruptException.class);
    assertThat(present(stack, 0)).isEqualTo("0");
    assertClosesClean(stack);
  }

  private int slicesFrom(TierStack stack, int number, int startLayer) {
    AtomicInteger slices = new AtomicInteger();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = requireNonNull(stack.lease(List.of(key(number)), OnMiss.SKIP, scope).block(SOON));
      lease.slicedWindows(new SliceShape(1, 64, SliceShape.Order.LAYER_FIRST, startLayer), scope)
          .concatMap(window -> window.slices(0))
          .doOnNext(LayerSlice::close).subscribe(slice -> slices.incrementAndGet());
      runTasks();
    }
    runTasks();
    return slices.get();
  }

  private static boolean hostCopy(TierStack stack, int number) {
    try (Block copy = stack.hostCopy(key(number))) {
      return copy != null;
    }
  }

  private static TierStack stack(StackOptions.Mode mode, StackLevel... levels) {
    return new TierStack(SPACE, List.of(levels),
        StackOptions.defaults("stack").withIngressBlocks(4).withTransferBlocks(1)
            .withPromotionBlocks(1).withBounceBlocks(1).withMode(mode),
        TierListener.noop());
  }

  /// A reservation of a block that is written, and not committed.
  private static Reservation reserved(TierStack stack, int number, BlockScope scope) {
    Reservation reservation = requireNonNull(stack.reserve(List.of(key(number)), scope).block(SOON));
    reservation.drafts().forEach(Blocks::produce);
    return reservation;
  }
}
