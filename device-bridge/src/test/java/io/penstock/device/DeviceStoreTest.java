package io.penstock.device;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.device.DeviceFailure.CopyFailedException;
import io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException;
import io.penstock.device.sim.CopyFault;
import io.penstock.device.sim.CopyFaults;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.spi.StoredBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

@Timeout(60)
final class DeviceStoreTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final List<BlockKey> KEYS = Blocks.keys(SPACE, 0, 5000);
  private static final GranuleRange ALL = GranuleRange.all(SPACE.layout());
  private static final Duration LATENCY = Duration.ofMillis(1);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  private final AtomicLong batches = new AtomicLong();
  private CopyFaults faults = CopyFaults.none();
  private final SimulatedDevice device = new SimulatedDevice(
      SimulatedDeviceOptions.defaults(8 << 20).withLatency(LATENCY), clock, (number, batch) -> {
        batches.incrementAndGet();
        return faults.of(number, batch);
      });
  private final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 11_000, 4));
  private final List<Block> blocks = new ArrayList<>();
  private DeviceStore store = open(5000);

  private DeviceStore open(int capacityBlocks) {
    return requireNonNull(DeviceStore.open(device, "hbm", SPACE, capacityBlocks).toFuture().join());
  }

  @AfterEach
  void closeAll() {
    blocks.forEach(Block::close);
    CompletableFuture<Void> closed = store.close().then(device.close()).toFuture();
    clock.advanceTimeBy(LATENCY.multipliedBy(10));
    assertThat(closed).isCompleted();
    assertThat(device.allocatedBytes()).isZero();
  }

  private List<Block> blocks(int from, int to) {
    List<Block> made = KEYS.subList(from, to).stream().map(key -> Blocks.block(arena, key)).toList();
    blocks.addAll(made);
    return made;
  }

  private List<BlockDraft> drafts(int from, int to) {
    return requireNonNull(arena.tryClaim(KEYS.subList(from, to)));
  }

  private List<StoredBlock> put(int from, int to) {
    CompletableFuture<List<StoredBlock>> put = store.put(blocks(from, to)).toFuture();
    clock.advanceTimeBy(LATENCY.multipliedBy(2));
    return put.join();
  }

  private CompletableFuture<Void> read(List<StoredBlock> stored, List<BlockDraft> drafts, GranuleRange range) {
    CompletableFuture<Void> read = store.read(stored, drafts, range).toFuture();
    clock.advanceTimeBy(LATENCY.multipliedBy(2));
    return read;
  }

  private static void close(List<? extends AutoCloseable> owned) {
    owned.forEach(each -> {
      try {
        each.close();
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    });
  }

  @Test
  void store_tellsWhatItIs() {
    assertThat(store.name()).isEqualTo("hbm");
    assertThat(store.medium()).isEqualTo(Medium.DEVICE);
    assertThat(store.durability()).isEqualTo(Durability.VOLATILE);
    assertThat(store.capacityBlocks()).isEqualTo(5000);
    assertThat(store.space()).isEqualTo(SPACE);
    assertThat(store.recovered()).isEmpty();
  }

  @Test
  void claim_ofBlocksOfWhichOneIsOfAnotherShape_takesNothing() {
    CacheSpace thin = CacheSpace.of("thin", BlockLayout.attention(1, 4, 2, 4, ElementType.BF16));
    try (SlabArena other = new SlabArena("other", thin.layout(), 1, 1);
        Block odd = Blocks.block(other, Blocks.key(thin, 0))) {
      DeviceSlots slots = requireNonNull(DeviceSlots.allocate(device, "few", SPACE.layout(), 2, 1).toFuture().join());
      List<Block> mixed = List.of(blocks(0, 1).getFirst(), odd);
      assertThatThrownBy(() -> slots.tryClaim(mixed)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThat(slots.claimed()).isZero();
      List<DeviceBlock> places = requireNonNull(slots.tryClaim(blocks(0, 2)), "both slots");
      close(places);
      slots.close();
    }
  }

  @Test
  void put_thenRead_bringsTheSameBytes() {
    List<StoredBlock> stored = put(0, 10);
    assertThat(stored).extracting(StoredBlock::key).containsExactlyElementsOf(KEYS.subList(0, 10));
    List<BlockDraft> drafts = drafts(0, 10);
    assertThat(read(stored, drafts, ALL)).isCompleted();
    drafts.forEach(draft -> {
      try (Block block = draft.seal()) {
        Blocks.assertBytes(block);
      }
    });
    assertThat(store.usedBlocks()).isEqualTo(10);
    close(stored);
    assertThat(store.usedBlocks()).isZero();
  }

  @Test
  void put_moreThanABatch_isGatheredIntoAsFewAsPossible() {
    List<StoredBlock> stored = put(0, 4097);
    assertThat(batches).hasValue(2);
    List<BlockDraft> drafts = drafts(0, 4096);
    assertThat(read(stored.subList(0, 4096), drafts, ALL)).isCompleted();
    assertThat(batches).hasValue(3);
    close(drafts);
    close(stored);
  }

  @Test
  void read_range_bringsJustThatRange() {
    List<StoredBlock> stored = put(0, 3);
    List<BlockDraft> drafts = drafts(0, 3);
    GranuleRange layer = GranuleRange.whole(2, 2);
    assertThat(read(stored, drafts, layer)).isCompleted();
    for (BlockDraft draft : drafts) {
      assertThat(draft.unverified(ALL)).containsExactly(GranuleRange.whole(0, 2));
      try (LayerSpan span = draft.span(layer)) {
        Blocks.assertBytes(span);
      }
    }
    assertThatThrownBy(() -> store.read(stored, drafts, GranuleRange.rows(0, 0, 1)))
        .hasMessageStartingWith("range must be of whole granules");
    close(drafts);
    close(stored);
  }

  @Test
  void put_corruptBlock_isNamedAndTakesNoPlace() {
    List<Block> three = blocks(0, 3);
    Blocks.corrupt(three.get(1), 3);
    CompletableFuture<List<StoredBlock>> put = store.put(three).toFuture();
    clock.advanceTimeBy(LATENCY);
    assertThatThrownBy(put::join).hasCauseInstanceOf(BlockCorruptException.class)
        .hasMessageContaining(KEYS.get(1) + " at tier hbm");
    assertThat(store.usedBlocks()).isZero();
  }

  @Test
  void read_bytesThatChangedOnTheDevice_areNamedAndStayUnread() {
    faults = CopyFaults.at(1, new CopyFault.Corrupt(1, 70));
    List<StoredBlock> stored = put(0, 2);
    List<BlockDraft> drafts = drafts(0, 2);
    CompletableFuture<Void> read = read(stored, drafts, ALL);
    assertThatThrownBy(read::join).hasCauseInstanceOf(BlockCorruptException.class)
        .hasMessageContaining(KEYS.get(1) + " at tier hbm");
    assertThat(drafts.get(1).unverified(ALL)).containsExactly(ALL);
    close(drafts);
    close(stored);
  }

  @Test
  void put_deviceFailsAtTheSecondBatch_takesNoPlace() {
    faults = CopyFaults.at(2, new CopyFault.Fail(0, 507_053));
    CompletableFuture<List<StoredBlock>> put = store.put(blocks(0, 4100)).toFuture();
    clock.advanceTimeBy(LATENCY.multipliedBy(2));
    assertThatThrownBy(put::join).hasCauseInstanceOf(CopyFailedException.class);
    assertThat(store.usedBlocks()).isZero();
  }

  @Test
  void put_moreThanPlaces_fails() {
    List<StoredBlock> stored = put(0, 4999);
    assertThatThrownBy(() -> store.put(blocks(0, 2)).toFuture().join())
        .hasCauseInstanceOf(DeviceMemoryExhaustedException.class)
        .hasMessageContaining("device hbm: bytes needed must be <= 256 free (was 512)");
    close(stored);
    List<Block> tooMany = new ArrayList<>(blocks(0, 5000));
    tooMany.add(tooMany.getFirst());
    assertThatThrownBy(() -> store.put(tooMany).toFuture().join())
        .hasCauseInstanceOf(DeviceMemoryExhaustedException.class);
  }

  @Test
  void put_cancelled_givesThePlacesBackWhenTheCopiesEnded() {
    Disposable put = store.put(blocks(0, 3)).subscribe();
    assertThat(store.usedBlocks()).isEqualTo(3);
    put.dispose();
    blocks.forEach(Block::close);
    assertThat(store.usedBlocks()).as("places that are being written").isEqualTo(3);
    assertThat(arena.claimedSlots()).as("blocks that are being read").isEqualTo(3);
    CompletableFuture<Void> closed = store.close().toFuture();
    assertThat(closed).isNotDone();

    clock.advanceTimeBy(LATENCY);
    assertThat(store.usedBlocks()).isZero();
    assertThat(arena.claimedSlots()).isZero();
    assertThat(closed).isCompleted();
  }

  @Test
  void read_draftsClosedByACancel_areNotFreedUnderTheCopy() {
    List<StoredBlock> stored = put(0, 1);
    blocks.forEach(Block::close);
    List<BlockDraft> drafts = drafts(0, 1);
    Disposable read = store.read(stored, drafts, ALL).subscribe();
    read.dispose();
    close(drafts);
    close(stored);
    assertThat(arena.claimedSlots()).isOne();
    assertThat(store.usedBlocks()).isOne();
    clock.advanceTimeBy(LATENCY);
    assertThat(arena.claimedSlots()).isZero();
    assertThat(store.usedBlocks()).isZero();
  }

  @Test
  void close_whileCopying_waitsForItAndRefusesWhatComes() {
    CompletableFuture<List<StoredBlock>> put = store.put(blocks(0, 2)).toFuture();
    CompletableFuture<Void> closed = store.close().toFuture();
    assertThat(closed).isNotDone();
    assertThatThrownBy(() -> store.put(blocks(2, 3)).toFuture().join()).hasCauseInstanceOf(TierClosedException.class);

    clock.advanceTimeBy(LATENCY);
    assertThat(closed).isCompleted();
    List<BlockDraft> drafts = drafts(0, 2);
    assertThatThrownBy(read(put.join(), drafts, ALL)::join).hasCauseInstanceOf(TierClosedException.class)
        .hasMessageContaining("tier hbm must be open (was closed)");
    close(drafts);
    assertThat(device.allocatedBytes()).isPositive();
    close(put.join());
    assertThat(device.allocatedBytes()).isZero();
    assertThat(store.close().toFuture()).isCompleted();
  }

  @Test
  void arguments_ofAnotherSpaceOrStore_areRefused() {
    CacheSpace other = CacheSpace.of("other", SPACE.layout());
    try (Block foreign = Blocks.block(arena, Blocks.key(other, 1))) {
      assertThatThrownBy(() -> store.put(List.of(foreign))).hasMessageStartingWith("key must be of space");
    }
    DeviceStore second = open(4);
    List<StoredBlock> stored = put(0, 1);
    List<BlockDraft> drafts = drafts(0, 1);
    assertThatThrownBy(() -> second.read(stored, drafts, ALL))
        .hasMessageStartingWith("stored block must be of store hbm");
    assertThatThrownBy(() -> store.read(stored, List.of(), ALL))
        .hasMessage("drafts must be 1, one a stored block (was 0)");
    close(drafts);
    close(stored);
    second.close().toFuture().join();
  }

  @Test
  void put_nothing_isNothing() {
    assertThat(store.put(List.of()).toFuture().join()).isEmpty();
    assertThat(batches).hasValue(0);
  }

  @Test
  void open_moreThanTheDeviceHas_fails() {
    assertThatThrownBy(() -> open(1 << 16)).hasCauseInstanceOf(DeviceMemoryExhaustedException.class);
    assertThatThrownBy(() -> DeviceStore.open(device, "hbm", SPACE, 0))
        .hasMessage("capacityBlocks must be > 0 (was 0)");
  }
}
