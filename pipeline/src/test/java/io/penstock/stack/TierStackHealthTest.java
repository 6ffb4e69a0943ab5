package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/// A stack over a disk that is full, or does not answer: no request waits for it, nothing is lost, and it comes back.
@Timeout(60)
final class TierStackHealthTest extends StackSteps {
  private final MemoryStore memory = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
  private final FaultyStore disk = new FaultyStore(memory);

  @Test
  void diskOff_isAMiss_andGivesWhatItHasWhenItIsBack() {
    TierStack stack = exclusive(1);
    put(stack, 0);
    put(stack, 1);
    runTasks();
    disk.health(StoreHealth.State.OFF);
    assertThat(present(stack, 0, 1)).as("0 is on the disk").isEqualTo("01");
    assertThat(stack.match(List.of(key(0), key(1))).block(SOON)).isZero();
    assertThat(hits(stack, 0)).isZero();
    disk.health(StoreHealth.State.ACTIVE);
    assertThat(present(stack, 0, 1)).isEqualTo("11");
    read(stack, 0);
    assertThat(lost(stack)).isEmpty();
    assertClosesClean(stack);
  }

  @Test
  void diskFull_givesAndTakesNothing() {
    TierStack stack = exclusive(1);
    put(stack, 0);
    put(stack, 1);
    runTasks();
    disk.health(StoreHealth.State.DEGRADED);
    put(stack, 2);
    assertThat(present(stack, 0, 1, 2)).as("1 had no place to go").isEqualTo("101");
    read(stack, 0);
    put(stack, 3);
    assertThat(present(stack, 0, 3)).as("0 is there already").isEqualTo("11");
    assertThat(evicted(stack)).containsExactly(key(1), key(2));
    assertClosesClean(stack);
  }

  @Test
  void blockToDemote_whileTheDiskIsOff_isEvicted_unlessTheDiskHasIt() {
    TierStack stack = exclusive(1);
    for (int i = 0; i < 5; i++) { // the disk holds as many as it may
      put(stack, i);
    }
    runTasks();
    disk.health(StoreHealth.State.OFF);
    for (int i = 5; i < 50; i++) {
      put(stack, i);
    }
    assertThat(evicted(stack)).hasSize(45).startsWith(key(4));
    disk.health(StoreHealth.State.ACTIVE);
    assertThat(present(stack, 0, 1, 2, 3, 4, 49)).isEqualTo("111101");
    put(stack, 50);
    runTasks();
    assertThat(present(stack, 0, 49, 50)).as("it takes blocks again").isEqualTo("011");
    assertClosesClean(stack);
  }

  @Test
  void blocksOnTheirWay_toADiskThatStops_areEvicted_andMemoryHeldOnlyForTheBatchUnderWay() {
    TierStack stack = exclusive(1);
    for (int i = 0; i < 4; i++) {
      put(stack, i); // 0 is being copied, 1 and 2 wait
    }
    assertThat(stack.arena().claimedSlots()).isEqualTo(4);
    disk.health(StoreHealth.State.OFF);
    assertThat(evicted(stack)).containsExactlyInAnyOrder(key(0), key(1), key(2));
    assertThat(stack.arena().claimedSlots()).as("0, until the disk answers, and 3").isEqualTo(2);
    for (int i = 4; i < 20; i++) {
      put(stack, i);
    }
    runTasks();
    assertThat(stack.arena().claimedSlots()).isEqualTo(1);
    assertThat(memory.storedBlocks()).as("0 was not needed any more").isZero();
    disk.health(StoreHealth.State.ACTIVE);
    put(stack, 20);
    runTasks();
    assertThat(present(stack, 19, 20)).isEqualTo("11");
    assertThat(lost(stack)).isEmpty();
    assertClosesClean(stack);
  }

  @Test
  void commitWrittenThrough_toADiskThatIsOff_isVolatile_andWrittenWhenItIsBack() {
    TierStack stack = written(2);
    disk.health(StoreHealth.State.OFF);
    assertThat(promised(stack, 0)).isEqualTo(Durability.VOLATILE);
    disk.health(StoreHealth.State.DEGRADED);
    assertThat(promised(stack, 1)).isEqualTo(Durability.VOLATILE);
    read(stack, 0);
    disk.health(StoreHealth.State.ACTIVE);
    runTasks();
    assertThat(memory.storedBlocks()).isEqualTo(2);
    Mono<Durability> next = committed(stack, 2);
    AtomicReference<Durability> receipt = new AtomicReference<>();
    next.subscribe(receipt::set);
    runTasks();
    assertThat(receipt.get()).isEqualTo(Durability.WRITTEN);
    assertClosesClean(stack);
  }

  @Test
  void commitUnderWay_whenTheDiskStops_hearsAtOnce() {
    TierStack stack = written(2);
    List<Durability> receipts = new ArrayList<>();
    committed(stack, 0).subscribe(receipts::add);
    committed(stack, 1).subscribe(receipts::add);
    assertThat(receipts).isEmpty();
    disk.health(StoreHealth.State.OFF);
    assertThat(receipts).containsExactly(Durability.VOLATILE, Durability.VOLATILE);
    assertThat(present(stack, 0, 1)).isEqualTo("11");
    runTasks();
    assertThat(memory.storedBlocks()).as("the stack does not know of it").isZero();
    disk.health(StoreHealth.State.ACTIVE);
    runTasks();
    assertThat(memory.storedBlocks()).isEqualTo(2);
    assertClosesClean(stack);
  }

  @Test
  void volatileBlocks_thatLeaveMemoryWhileTheDiskIsOff_areEvicted() {
    TierStack stack = written(1);
    disk.health(StoreHealth.State.OFF);
    put(stack, 0);
    put(stack, 1);
    assertThat(present(stack, 0, 1)).isEqualTo("01");
    assertThat(evicted(stack)).containsExactly(key(0));
    assertClosesClean(stack);
  }

  @Test
  void putThatADiskRefuses_thoughItSaysItIsHealthy_costsNoWriterAnything() {
    disk.puts(put -> Mono.error(new StoreUnavailableException("no room")));
    TierStack stack = written(1);
    assertThat(promised(stack, 0)).isEqualTo(Durability.VOLATILE);
    put(stack, 1);
    assertThat(evicted(stack)).containsExactly(key(0));
    assertClosesClean(stack);
    TierStack other = new TierStack(SPACE,
        List.of(new StackLevel.Host("dram", 1), new StackLevel.Stored(new FaultyStore(
            new MemoryStore("ssd", Medium.DISK, SPACE, 4, Runnable::run))
            .puts(put -> Mono.error(new StoreUnavailableException("no room"))), 4)),
        options(), TierListener.noop());
    put(other, 0);
    put(other, 1);
    assertThat(evicted(other)).containsExactly(key(0));
    assertClosesClean(other);
  }

  @Test
  void commit_ofATierThatHasNothingButTheDisk_hearsWhy() {
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Stored(disk, 4)),
        options().withMode(StackOptions.Mode.WRITE_THROUGH), TierListener.noop());
    disk.health(StoreHealth.State.OFF);
    assertThatThrownBy(() -> put(stack, 0)).isInstanceOf(StoreUnavailableException.class)
        .hasMessage("store ssd must be active (was off: told to be)");
    assertClosesClean(stack);
  }

  @Test
  void readUnderWay_whenTheDiskStops_hearsAtOnce_andItsMemoryComesBackLater() {
    TierStack stack = exclusive(1);
    put(stack, 0);
    put(stack, 1);
    runTasks();
    AtomicReference<Throwable> error = new AtomicReference<>();
    try (BlockScope scope = new BlockScope()) {
      stack.get(List.of(key(0)), scope).subscribe(block -> {}, error::set);
      assertThat(error.get()).isNull();
      disk.health(StoreHealth.State.OFF);
      assertThat(error.get()).isInstanceOf(StoreUnavailableException.class);
    }
    assertThat(stack.arena().claimedSlots()).as("the disk may still write to it").isEqualTo(2);
    runTasks();
    assertThat(stack.arena().claimedSlots()).isLessThanOrEqualTo(2);
    disk.health(StoreHealth.State.ACTIVE);
    read(stack, 0);
    assertThat(lost(stack)).isEmpty();
    assertClosesClean(stack);
  }

  @Test
  void readThatWouldWaitForMemory_whenTheDiskHasStopped_hearsAtOnce() {
    TierStack stack = exclusive(1);
    for (int i = 0; i < 3; i++) {
      put(stack, i);
      runTasks();
    }
    AtomicReference<Throwable> first = new AtomicReference<>();
    AtomicReference<Throwable> second = new AtomicReference<>();
    try (BlockScope scope = new BlockScope()) {
      stack.get(List.of(key(0)), scope).subscribe(block -> {}, first::set); // has all the memory for windows
      Lease late = requireNonNull(stack.lease(List.of(key(1)), OnMiss.SKIP, scope).block(SOON));
      disk.health(StoreHealth.State.OFF);
      assertThat(first.get()).isInstanceOf(StoreUnavailableException.class);
      late.windows(1, scope).subscribe(window -> {}, second::set);
      assertThat(second.get()).as("the disk may never give the memory back")
          .isInstanceOf(StoreUnavailableException.class);
    }
    runTasks();
    disk.health(StoreHealth.State.ACTIVE);
    read(stack, 1);
    assertThat(lost(stack)).isEmpty();
    assertClosesClean(stack);
  }

  @Test
  void readFromADevice_isNotHeldUpByReadsThatTheDiskLeavesLying() {
    MemoryStore device = new MemoryStore("hbm", Medium.DEVICE, SPACE, Long.MAX_VALUE, Runnable::run);
    TierStack stack =
        new TierStack(SPACE,
            List.of(new StackLevel.Stored(device, 1), new StackLevel.Host("dram", 1), new StackLevel.Stored(disk, 4)),
            options(), TierListener.noop());
    for (int i = 0; i < 3; i++) {
      put(stack, i);
      runTasks();
    }
    List<Throwable> errors = new ArrayList<>();
    try (BlockScope scope = new BlockScope()) {
      // Has all the memory for windows from the disk
      stack.get(List.of(key(0)), scope).subscribe(block -> {}, errors::add);
      List<Block> read = new ArrayList<>();
      stack.get(List.of(key(2)), scope).subscribe(read::add, errors::add);
      assertThat(read).as("while the disk counts as well").singleElement().satisfies(Blocks::assertBytes);
      disk.health(StoreHealth.State.OFF);
      assertThat(errors).singleElement().isInstanceOf(StoreUnavailableException.class);
      stack.get(List.of(key(2)), scope).subscribe(read::add, errors::add);
      assertThat(read).as("while the disk still may write to its memory").hasSize(2);
    }
    assertThat(tasks).as("what the disk did not answer").isNotEmpty();
    assertClosesClean(stack);
  }

  @Test
  void readUnderWay_whenTheDiskStops_afterTheClose_hearsAtOnce() {
    TierStack stack = exclusive(1);
    put(stack, 0);
    put(stack, 1);
    runTasks();
    AtomicReference<Throwable> error = new AtomicReference<>();
    try (BlockScope scope = new BlockScope()) {
      stack.get(List.of(key(0)), scope).subscribe(block -> {}, error::set);
      stack.close().subscribe();
      assertThat(error.get()).as("what was begun before the close goes on").isNull();
      disk.health(StoreHealth.State.OFF);
      assertThat(error.get()).isInstanceOf(StoreUnavailableException.class);
    }
    assertClosesClean(stack);
  }

  @Test
  void commitUnderWay_whenTheDiskStops_afterTheClose_hearsAtOnce() {
    TierStack stack = written(2);
    AtomicReference<Throwable> error = new AtomicReference<>();
    committed(stack, 0).subscribe(durability -> {}, error::set);
    stack.close().subscribe();
    disk.health(StoreHealth.State.OFF);
    assertThat(error.get()).isInstanceOf(TierClosedException.class);
    assertClosesClean(stack);
  }

  @Test
  void readThatADiskRefuses_losesNothing() {
    TierStack stack = exclusive(1);
    put(stack, 0);
    put(stack, 1);
    runTasks();
    disk.reads(read -> Mono.error(new StoreUnavailableException("not now")));
    assertThatThrownBy(() -> read(stack, 0)).isInstanceOf(StoreUnavailableException.class);
    disk.mend();
    read(stack, 0);
    assertClosesClean(stack);
  }

  @Test
  void blockWrittenAnew_whileTheDiskIsOff_isReadFromMemory_andIsOneBlock() {
    TierStack stack = exclusive(1);
    put(stack, 0);
    put(stack, 1);
    runTasks();
    disk.health(StoreHealth.State.OFF);
    assertThat(promised(stack, 0)).isEqualTo(Durability.VOLATILE);
    read(stack, 0);
    assertThat(present(stack, 0, 1)).as("1 had to leave for it").isEqualTo("10");
    put(stack, 2);
    assertThat(present(stack, 0, 2)).as("0 was demoted to its copy").isEqualTo("01");
    disk.health(StoreHealth.State.ACTIVE);
    assertThat(present(stack, 0, 2)).isEqualTo("11");
    assertThat(stat(stack).blocks()).isEqualTo(2);
    read(stack, 0);
    assertClosesClean(stack);
  }

  @Test
  void blockWrittenAnew_whileAStalledStoreIsToGiveIt_isThereAtOnce() {
    FaultyStore device = new FaultyStore(new MemoryStore("hbm", Medium.DEVICE, SPACE, 1, tasks::add));
    TierStack stack =
        new TierStack(SPACE, List.of(new StackLevel.Stored(device, 1), new StackLevel.Host("dram", 2)), options(),
            TierListener.noop());
    put(stack, 0);
    runTasks();
    put(stack, 1); // 0 is to be demoted, and is being read
    device.health(StoreHealth.State.OFF);
    assertThat(present(stack, 0)).isEqualTo("0");
    assertThat(promised(stack, 0)).isEqualTo(Durability.VOLATILE);
    assertThat(present(stack, 0)).as("there is a receipt for it").isEqualTo("1");
    read(stack, 0);
    device.health(StoreHealth.State.ACTIVE);
    runTasks();
    read(stack, 0);
    assertThat(lost(stack)).isEmpty();
    assertClosesClean(stack);
  }

  @Test
  void admission_ofABlockThatComesBack_isServed() {
    TierStack stack = exclusive(1);
    put(stack, 0);
    put(stack, 1);
    runTasks();
    disk.health(StoreHealth.State.OFF);
    AtomicReference<Integer> seen = new AtomicReference<>();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = requireNonNull(stack.lease(List.of(key(0)), OnMiss.ADMIT, scope).block(SOON));
      assertThat(lease.admitted().count()).isOne();
      lease.windows(1, scope).doOnNext(window -> window.forEach(leased -> Blocks.assertBytes(leased.block())))
          .collectList()
          .subscribe(windows -> seen.set(windows.size()));
      disk.health(StoreHealth.State.ACTIVE);
      Reservation reservation = requireNonNull(stack.reserve(List.of(key(0)), scope).block(SOON));
      assertThat(reservation.skipped().count()).as("it is there again").isOne();
      runTasks();
    }
    assertThat(seen.get()).isOne();
    assertClosesClean(stack);
  }

  @Test
  void stat_saysHowTheDiskIs() {
    TierStack stack = exclusive(1);
    assertThat(stat(stack).levels()).extracting(TierStat.Level::health).containsOnly(StoreHealth.GOOD);
    disk.health(StoreHealth.State.OFF);
    assertThat(stat(stack).levels()).extracting(TierStat.Level::health)
        .containsExactly(StoreHealth.GOOD, new StoreHealth(StoreHealth.State.OFF, "told to be"));
    assertClosesClean(stack);
  }

  private TierStack exclusive(int dram) {
    return new TierStack(SPACE, List.of(new StackLevel.Host("dram", dram), new StackLevel.Stored(disk, 4)), options(),
        TierListener.noop());
  }

  private TierStack written(int dram) {
    return new TierStack(SPACE, List.of(new StackLevel.Host("dram", dram), new StackLevel.Stored(disk, 4)),
        options().withMode(StackOptions.Mode.WRITE_THROUGH),
        TierListener.noop());
  }

  private static StackOptions options() {
    return StackOptions.defaults("stack").withIngressBlocks(5).withTransferBlocks(1).withPromotionBlocks(1)
        .withBounceBlocks(1).withBatchBlocks(1);
  }

  private static int hits(TierStack stack, int number) {
    try (BlockScope scope = new BlockScope()) {
      return requireNonNull(stack.lease(List.of(key(number)), OnMiss.SKIP, scope).block(SOON)).hits().count();
    }
  }

  private static List<BlockKey> evicted(TierStack stack) {
    return history(stack).stream().filter(TierEvent.Evicted.class::isInstance)
        .map(event -> ((TierEvent.Evicted) event).key()).toList();
  }

  private static List<TierEvent> lost(TierStack stack) {
    return history(stack).stream().filter(TierEvent.Lost.class::isInstance).toList();
  }

  private static Durability promised(TierStack stack, int number) {
    return requireNonNull(committed(stack, number).block(SOON));
  }

  private static Mono<Durability> committed(TierStack stack, int number) {
    return committed(stack, List.of(key(number))).map(receipts -> receipts.getFirst().durability());
  }
}
