package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.LayerSpan;
import io.penstock.block.Plane.ElementType;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/// Ten blocks of 61 layers of 128 KiB, each layer in a buffer of the caller: scattered into drafts, and gathered from
/// blocks, with one copy at either end and none between.
final class ScatterGatherTest {
  private static final int BLOCKS = 10;
  private static final int LAYERS = 61;
  private static final int LAYER_BYTES = 128 << 10;
  private static final int WINDOW = 2;
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final CacheSpace SPACE =
      CacheSpace.of("layers", BlockLayout.attention(LAYERS, 128, 1, 256, ElementType.BF16));
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final HostTier tier = new HostTier(SPACE, BLOCKS,
      StackOptions.defaults("dram").withIngressBlocks(WINDOW), TierListener.noop());
  private final Arena callers = Arena.ofConfined();
  private final List<MemorySegment> buffers = IntStream.range(0, LAYERS * 2)
      .mapToObj(i -> callers.allocate(LAYER_BYTES / 2, 64)).toList(); // keys and values apart
  private final List<BlockKey> keys = Blocks.keys(SPACE, 0, BLOCKS);

  @AfterEach
  void close() {
    tier.close().block(SOON);
    callers.close();
  }

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(SOON));
  }

  @Test
  void buffersOfTheCaller_areABlock_andComeBackByteForByte_withoutACopyBetween() {
    assertThat(SPACE.layout().layerBytes()).isEqualTo(LAYER_BYTES);
    putAll();
    gather(1); // loads classes
    long lent = tier.arena().claimedSlots();
    assertThat(lent).isEqualTo(BLOCKS);
    long before = THREADS.getCurrentThreadAllocatedBytes();
    long bytes = gather(BLOCKS);
    long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
    assertThat(bytes).isEqualTo((long) BLOCKS * LAYERS * LAYER_BYTES);
    assertThat(allocated).as("bytes on the heap").isLessThan(bytes / 40);
    assertThat(tier.arena().claimedSlots()).as("memory of blocks").isEqualTo(lent);
  }

  private void putAll() {
    for (int from = 0; from < BLOCKS; from += WINDOW) {
      try (BlockScope scope = new BlockScope()) {
        Reservation room = value(tier.reserve(keys.subList(from, from + WINDOW), scope));
        room.drafts().forEach(this::scatter);
        assertThat(value(room.commit(room.drafts()))).hasSize(WINDOW);
      }
    }
  }

  /// Each buffer goes to its granule, the last one first.
  private void scatter(BlockDraft draft) {
    for (int granule = buffers.size() - 1; granule >= 0; granule--) {
      MemorySegment buffer = buffers.get(granule);
      GranuleRange range = GranuleRange.whole(granule, 1);
      Blocks.fill(draft.key(), range.offset(SPACE.layout()), buffer);
      draft.write(range, memory -> memory.copyFrom(buffer));
      draft.produced(range);
    }
  }

  /// @return how many bytes came into buffers of the caller, each compared
  private long gather(int count) {
    long bytes = 0;
    try (BlockScope scope = new BlockScope()) {
      for (BlockKey key : keys.subList(0, count)) {
        List<Block> twice =
            value(tier.get(List.of(key), scope).concatWith(tier.get(List.of(key), scope)).collectList());
        assertThat(twice.get(0).sharesMemoryWith(twice.get(1))).as("no copy for a reader").isTrue();
        bytes += gather(twice.get(0));
        twice.forEach(Block::close);
      }
    }
    return bytes;
  }

  private long gather(Block block) {
    for (int granule = 0; granule < buffers.size(); granule++) {
      MemorySegment buffer = buffers.get(granule).fill((byte) 0);
      GranuleRange range = GranuleRange.whole(granule, 1);
      try (LayerSpan span = block.span(range)) {
        span.read(buffer::copyFrom);
      }
      Blocks.assertBytes(block.key(), range.offset(SPACE.layout()), buffer);
    }
    return block.layout().blockBytes();
  }

  @Test
  void buffersThatAreTooFew_tooManyOrTooLong_areRefused_andNothingIsVisible() {
    try (BlockScope scope = new BlockScope()) {
      Reservation room = value(tier.reserve(keys.subList(0, 1), scope));
      BlockDraft draft = room.drafts().getFirst();
      scatterBut(draft, LAYERS * 2 - 1);
      assertThatThrownBy(() -> room.commit(room.drafts()).block(SOON)).isInstanceOf(IncompleteBlockException.class);
      assertThatThrownBy(() -> draft.write(GranuleRange.whole(LAYERS * 2, 1), memory -> {}))
          .isInstanceOf(IndexOutOfBoundsException.class);
      MemorySegment longer = callers.allocate(LAYER_BYTES);
      GranuleRange last = GranuleRange.whole(LAYERS * 2 - 1, 1);
      assertThatThrownBy(() -> draft.write(last, memory -> memory.copyFrom(longer)))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThat(value(tier.match(keys))).isZero();
    }
  }

  private static void scatterBut(BlockDraft draft, int missing) {
    for (int granule = 0; granule < LAYERS * 2; granule++) {
      if (granule != missing) {
        draft.produced(GranuleRange.whole(granule, 1)); // of what the memory happens to hold
      }
    }
  }
}
