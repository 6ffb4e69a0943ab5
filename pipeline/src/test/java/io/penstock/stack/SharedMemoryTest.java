package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SlabPart;
import io.penstock.pool.share.SharedMemory;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Stacks of several layouts on one memory. The sizes of blocks have the ratios of real ones.
@Timeout(60)
final class SharedMemoryTest extends StackSteps {
  private static final long NO_QUOTA = Long.MAX_VALUE;
  private static final int LEAST = 2;

  private final AtomicInteger closedSources = new AtomicInteger();
  private final List<TierStack> stacks = new ArrayList<>();
  private SharedMemory memory = memory(4 << 20);

  private SharedMemory memory(long bytes) {
    Arena arena = Arena.ofShared();
    return new SharedMemory("dram", bytes, new ChunkSource() {
      @Override
      public MemorySegment chunk(long length) {
        return arena.allocate(length, 4096);
      }

      @Override
      public void close() {
        closedSources.incrementAndGet();
        arena.close();
      }
    });
  }

  /// A space whose blocks have `bytes`.
  private static CacheSpace space(String name, int bytes) {
    return CacheSpace.of(name, BlockLayout.attention(1, 1, 1, bytes / 2, ElementType.INT8));
  }

  private TierStack stack(CacheSpace space, SharedMemory.Share share) {
    TierStack stack = new TierStack(space, List.of(new StackLevel.Host("dram", LEAST, share)),
        StackOptions.defaults(space.model()).withIngressBlocks(4).withMaxWaiters(64).withExact(false),
        TierListener.noop());
    stacks.add(stack);
    return stack;
  }

  private static void putRange(TierStack stack, int from, int to) {
    for (int i = from; i < to; i++) {
      putAll(stack, List.of(Blocks.key(stack.info().space(), i)));
    }
  }

  private static long bytes(TierStack stack) {
    return stat(stack).bytes();
  }

  @AfterEach
  void everyByteComesBack() {
    memory.close();
    stacks.forEach(this::assertClosesClean);
    assertThat(memory.freeBytes()).isEqualTo(memory.totalBytes());
    assertThat(memory.largestFreeBytes()).isEqualTo(memory.totalBytes());
    assertThat(closedSources).hasValue(1);
  }

  @Test
  void aSpaceAlone_usesWhatOthersLeave() {
    TierStack first = stack(space("first", 16 << 10), memory.share("first", 1, NO_QUOTA));
    stack(space("idle", 80 << 10), memory.share("idle", 3, NO_QUOTA));
    putRange(first, 0, 400);
    assertThat(bytes(first)).isEqualTo((4 << 20) + LEAST * (16L << 10));
    assertThat(stat(first).levels().getFirst().capacityBlocks()).isEqualTo(256 + LEAST);
    assertThat(memory.freeBytes()).isZero();
  }

  @Test
  void aSpaceBelowItsShare_getsRoomFromTheSpaceAboveIts_andNoMore() {
    SharedMemory.Share ofFirst = memory.share("first", 1, NO_QUOTA);
    SharedMemory.Share ofSecond = memory.share("second", 3, NO_QUOTA);
    TierStack first = stack(space("first", 16 << 10), ofFirst);
    TierStack second = stack(space("second", 80 << 10), ofSecond);
    putRange(first, 0, 300);
    putRange(second, 0, 100);
    assertThat(ofSecond.heldBytes()).isBetween(ofSecond.guaranteedBytes() - (96 << 10), ofSecond.guaranteedBytes());
    assertThat(ofFirst.heldBytes()).isGreaterThanOrEqualTo(ofFirst.guaranteedBytes());
    putRange(first, 300, 600);
    assertThat(ofSecond.heldBytes()).isGreaterThanOrEqualTo(ofSecond.guaranteedBytes() - (96 << 10));
    read(first, Blocks.key(first.info().space(), 599));
  }

  private static void read(TierStack stack, BlockKey key) {
    try (BlockScope scope = new BlockScope()) {
      List<Block> blocks = requireNonNull(stack.get(List.of(key), scope).collectList().block(SOON));
      assertThat(blocks).singleElement().satisfies(Blocks::assertBytes);
    }
  }

  @Test
  void aQuota_boundsASpace_whateverIsFree() {
    SharedMemory.Share share = memory.share("bound", 1, 1 << 20);
    TierStack bound = stack(space("bound", 16 << 10), share);
    putRange(bound, 0, 200);
    assertThat(share.heldBytes()).isEqualTo(1 << 20);
    assertThat(bytes(bound)).isEqualTo((1 << 20) + LEAST * (16L << 10));
    assertThat(bound.info().capacityBlocks()).isEqualTo(64 + LEAST);
  }

  @Test
  void blocksInUse_keepTheirBytes_whenAnotherSpaceDemandsItsShare() {
    TierStack first = stack(space("first", 16 << 10), memory.share("first", 1, NO_QUOTA));
    SharedMemory.Share ofSecond = memory.share("second", 1, NO_QUOTA);
    TierStack second = stack(space("second", 80 << 10), ofSecond);
    putRange(first, 0, 258);
    List<BlockKey> all = Blocks.keys(first.info().space(), 0, 258);
    try (BlockScope scope = new BlockScope()) {
      List<Block> held = requireNonNull(first.get(all.subList(40, 60), scope).collectList().block(SOON));
      putRange(second, 0, 60);
      assertThat(held).hasSize(20).allSatisfy(Blocks::assertBytes);
      assertThat(ofSecond.heldBytes()).isGreaterThan(ofSecond.guaranteedBytes() * 3 / 4);
    }
    putRange(second, 60, 70);
    assertThat(ofSecond.heldBytes()).isGreaterThanOrEqualTo(ofSecond.guaranteedBytes() - (96 << 10));
  }

  @Test
  void aSpaceWhoseBlocksAreAllInUse_isPassedOver_forTheNextOneAboveItsShare() {
    TierStack first = stack(space("first", 16 << 10), memory.share("first", 1, NO_QUOTA));
    TierStack second = stack(space("second", 16 << 10), memory.share("second", 1, NO_QUOTA));
    SharedMemory.Share ofThird = memory.share("third", 2, NO_QUOTA);
    TierStack third = stack(space("third", 16 << 10), ofThird);
    putRange(first, 0, 162);
    putRange(second, 0, 98);
    assertThat(memory.freeBytes()).isZero();
    try (BlockScope scope = new BlockScope()) {
      for (int i = 0; i < 162; i += 6) {
        List<BlockKey> some = Blocks.keys(first.info().space(), i, i + 6);
        assertThat(first.get(some, scope).collectList().block(SOON)).hasSize(6);
      }
      putRange(third, 0, 40);
      assertThat(ofThird.heldBytes()).as("what the second has above its share").isEqualTo(32 * (16L << 10));
    }
  }

  @Test
  void aStackThatCannotUseARun_givesItBack() {
    SharedMemory.Share share = memory.share("broken", 1, NO_QUOTA);
    SlabArena arena = new SlabArena("broken", space("broken", 16 << 10).layout(), 1, 1);
    SlabPart part = arena.part("slots", 1, 1);
    share.attach(new SharedMemory.Member() {
      @Override
      public SlabPart slots() {
        return part;
      }

      @Override
      public SlabPart.Run grow(MemorySegment run, Runnable returned) {
        throw new IllegalStateException("told to fail");
      }

      @Override
      public boolean canLeave(SlabPart.Run run) {
        return false;
      }

      @Override
      public void giveUp(SlabPart.Run run) {
        throw new AssertionError("it has no run");
      }

      @Override
      public void clear(SlabPart.Run run) {
        throw new AssertionError("it has no run");
      }
    });
    assertThatThrownBy(share::grow).hasMessage("told to fail");
    arena.close();
    assertThat(share.heldBytes()).isZero();
    assertThat(memory.freeBytes()).isEqualTo(memory.totalBytes());
  }

  @Test
  void softPins_keepNoMemoryFromASpaceBelowItsShare() {
    SharedMemory.Share ofFirst = memory.share("first", 1, NO_QUOTA);
    TierStack first = stack(space("first", 16 << 10), ofFirst);
    SharedMemory.Share ofSecond = memory.share("second", 1, NO_QUOTA);
    TierStack second = stack(space("second", 80 << 10), ofSecond);
    putRange(first, 0, 258);
    try (TierHolds holds = first.holds("pins")) {
      for (int i = 0; i < 258; i += 5) { // in every run
        holds.pin(List.of(Blocks.key(first.info().space(), i)), TierHolds.Pin.soft(Duration.ZERO)).block(SOON);
      }
    }
    putRange(second, 0, 60);
    assertThat(ofSecond.heldBytes()).isGreaterThan(ofSecond.guaranteedBytes() * 3 / 4);
  }

  @Test
  void leasesAndPins_mayHoldPartsOfTheShare_beforeTheMemoryIsTaken() {
    TierStack first = stack(space("first", 16 << 10), memory.share("first", 1, NO_QUOTA));
    putRange(first, 0, 1);
    TierStat.Holds bounds = stat(first).holds();
    assertThat(bounds.mostLeasedBlocks()).isEqualTo((256 + LEAST) / 4 * 3);
    assertThat(bounds.mostPinned()).isEqualTo((256 + LEAST) / 2);
  }

  @Test
  void reads_takeNoRoomFromOthers() {
    SharedMemory.Share ofFirst = memory.share("first", 1, NO_QUOTA);
    TierStack first = stack(space("first", 16 << 10), ofFirst);
    TierStack second = stack(space("second", 80 << 10), memory.share("second", 1, NO_QUOTA));
    putRange(second, 0, LEAST);
    putRange(first, 0, 300);
    long held = ofFirst.heldBytes();
    assertThat(memory.freeBytes()).isZero();
    try (BlockScope scope = new BlockScope()) {
      List<BlockKey> keys = Blocks.keys(second.info().space(), 0, 50);
      assertThat(second.get(keys, scope).collectList().block(SOON)).hasSize(LEAST);
    }
    assertThat(ofFirst.heldBytes()).isEqualTo(held);
  }

  /// The layouts of the presets llama-3.1-8b, llama-3.1-70b, deepseek-v3, qwen2.5-7b, and blocks of 64 KiB, while the
  /// spaces that are used change.
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void mixedLayouts_fillTheMemory(long seed) {
    memory.close();
    memory = memory(4 << 20);
    closedSources.set(0);
    int[] sizes = {2048 << 2, 5120 << 2, 1098 << 2, 896 << 2, 64 << 2};
    double[] weights = {4, 8, 2, 2, 1};
    List<TierStack> spaces = new ArrayList<>();
    for (int i = 0; i < sizes.length; i++) {
      spaces.add(stack(space("s" + i, sizes[i]), memory.share("s" + i, weights[i], NO_QUOTA)));
    }
    long least = 0;
    for (int size : sizes) {
      least += (long) LEAST * size;
    }
    Random random = new Random(seed);
    int[] next = new int[sizes.length];
    List<Double> used = new ArrayList<>();
    for (int phase = 0; phase < 5; phase++) {
      int idle = phase % 2 == 0 ? -1 : random.nextInt(sizes.length);
      for (int step = 0; step < 600; step++) {
        int i = random.nextInt(sizes.length);
        if (i == idle) {
          continue;
        }
        int more = Math.clamp((20 << 10) / sizes[i], 1, 20);
        putRange(spaces.get(i), next[i], next[i] + more);
        next[i] += more;
        if (phase > 0 && step % 5 == 0) {
          used.add((double) spaces.stream().mapToLong(SharedMemoryTest::bytes).sum()
              / (memory.totalBytes() + least));
        }
      }
    }
    assertThat(used.stream().mapToDouble(each -> each).average().orElseThrow()).as("seed %s", seed)
        .isGreaterThanOrEqualTo(0.95);
  }
}
