package io.penstock.node.party;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.SlabArena;
import io.penstock.block.SpaceId;
import io.penstock.node.content.KvPattern;
import io.penstock.node.shape.BlockShape;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// What counts as delivered: what came, not what was asked for.
final class ReadingTest {
  private static final BlockLayout LAYOUT = BlockShape.of(1 << 10, 4).layout();
  private static final BlockLayout LONGER = BlockShape.of(2 << 10, 4).layout();
  private static final BlockKey KEY = new BlockKey(new SpaceId(1, 2), new BlockHash(3, 4));
  private static final Answer ANSWER = new Answer(1, 1, 1, List.of());

  private final Reading reading = new Reading(LAYOUT, List.of(7L), List.of(KEY), System::nanoTime);

  @Test
  void delivery_wholeAtOnce_countsEveryByteOnce() {
    reading.ask();
    layers(LAYOUT, 0, 4);

    assertThat(reading.isComplete()).isTrue();
    assertDelivered(1 << 10, 1 << 10);
  }

  @Test
  void delivery_cutOff_countsWhatCame() {
    reading.ask();
    layers(LAYOUT, 0, 3);

    assertThat(reading.isComplete()).isFalse();
    assertDelivered(768, 768);
  }

  @Test
  void delivery_cutOffAndAskedAgain_countsTheBlockOnce() {
    reading.ask();
    layers(LAYOUT, 0, 3);
    reading.ask();
    layers(LAYOUT, 0, 4);

    assertDelivered(1 << 10, 1 << 10);
  }

  @Test
  void delivery_inMemoryLongerThanItsRange_countsTheMemory() {
    reading.ask();
    layers(LAYOUT, 0, 3);
    layers(LONGER, 3, 4);

    assertThat(reading.isComplete()).isTrue();
    assertDelivered(768 + 512, 1 << 10);
  }

  @Test
  void firstSlice_isWhenTheFirstBytesOfLayerZeroCame_andNotThoseOfTheLastBlock() {
    AtomicLong clock = new AtomicLong(1_000);
    Reading two = new Reading(LAYOUT, List.of(7L, 8L), List.of(KEY, KEY), clock::get);
    two.ask();
    for (int position = 0; position < 2; position++) {
      clock.addAndGet(10);
      deliver(two, position, LAYOUT, 0, 1);
    }
    clock.addAndGet(10);
    deliver(two, 0, LAYOUT, 1, 4);

    assertThat(two.delivery(ANSWER, 1).firstSliceNanos()).isEqualTo(10);
    assertThat(two.delivery(ANSWER, 1).firstLayerNanos()).isEqualTo(20);
  }

  private void assertDelivered(long bytes, long verified) {
    Delivery delivery = reading.delivery(ANSWER, 1);
    assertThat(delivery.bytesDelivered()).isEqualTo(bytes);
    assertThat(delivery.bytesVerified()).isEqualTo(verified);
    assertThat(delivery.corruptBlocks()).isZero();
  }

  /// Delivers the layers from `first` until before `end` of a block that is laid out as `layout` says.
  private void layers(BlockLayout layout, int first, int end) {
    deliver(reading, 0, layout, first, end);
  }

  private static void deliver(Reading reading, int position, BlockLayout layout, int first, int end) {
    try (SlabArena arena = new SlabArena("reading", layout, 1, 1);
        BlockDraft draft = requireNonNull(arena.tryClaim(List.of(KEY))).getFirst()) {
      for (int layer = 0; layer < layout.layers(); layer++) {
        GranuleRange range = layer(layer);
        draft.write(range, memory -> KvPattern.fill(KEY, LAYOUT, range, memory));
      }
      draft.produced(GranuleRange.all(layout));
      try (Block block = draft.seal()) {
        for (int layer = first; layer < end; layer++) {
          GranuleRange range = layer(layer);
          reading
              .accept(new LayerSlice(new LayerSlice.Position(0, 0), range, new int[] {position},
                  List.of(block.span(range))));
        }
      }
    }
  }

  private static GranuleRange layer(int layer) {
    return GranuleRange.layers(LAYOUT, layer, layer + 1);
  }
}
