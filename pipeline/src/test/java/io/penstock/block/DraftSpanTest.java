package io.penstock.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Checksums of bytes that are counted as they come: the same as those of the memory.
@Timeout(60)
final class DraftSpanTest {
  private static final CacheSpace SPACE = Blocks.smallSpace(); // 4 granules of 64 bytes, 4 rows each
  private static final List<BlockLayout> LAYOUTS = List.of(SPACE.layout(),
      BlockLayout.latent(3, 8, 7, 3, ElementType.BF16), // granules of two lengths
      BlockLayout.latent(2, 5, 9, 1, ElementType.INT8).withOrder(TokenOrder.HND),
      BlockLayout.attention(3, 5, 8, 3, ElementType.INT8).withOrder(TokenOrder.HND));

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private BlockDraft draft(BlockLayout layout, long number) {
    return Blocks.draft(leaks.watch(new SlabArena("spans", layout, 1, 1)), Blocks.key(SPACE, number));
  }

  /// A run of granules, or rows of one.
  private static GranuleRange range(BlockLayout layout, SplittableRandom random) {
    int first = random.nextInt(layout.granules());
    if (random.nextBoolean()) {
      return GranuleRange.whole(first, random.nextInt(1, layout.granules() - first + 1));
    }
    int row = random.nextInt(layout.rows(first));
    return GranuleRange.rows(first, row, random.nextInt(1, layout.rows(first) - row + 1));
  }

  /// Counts all bytes of `span`, in parts of any length.
  private static void count(BlockDraft.Span span, SplittableRandom random) {
    int left = (int) span.memory().byteSize();
    while (left > 0) {
      int part = Math.min(left, random.nextInt(random.nextBoolean() ? 8 : 200));
      span.wrote(part);
      left -= part;
    }
  }

  private static int[] sums(BlockDraft draft, GranuleRange range) {
    BlockLayout layout = draft.layout();
    try (SlabArena own = new SlabArena("sums", layout, 1, 1);
        Block block = Blocks.block(own, draft.key());
        LayerSpan span = block.span(range)) {
      return span.checksums("test");
    }
  }

  @Test
  void bytesCountedInAnyParts_haveTheChecksumsOfTheMemory() {
    for (int seed = 0; seed < 1_000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      BlockLayout layout = LAYOUTS.get(random.nextInt(LAYOUTS.size()));
      try (BlockDraft draft = draft(layout, seed)) {
        GranuleRange range = range(layout, random);
        BlockDraft.Span span = draft.writing(range);
        Blocks.fill(draft.key(), range.offset(layout), span.memory());
        count(span, random);
        span.close();

        draft.verify(span, sums(draft, range), "test");

        assertThat(draft.unverified(range)).as("seed %d: verified", seed).isEmpty();
        try (LayerSpan read = draft.span(range)) {
          assertThat(read.checksums("test")).as("seed %d", seed).isEqualTo(sums(draft, range));
        }
      }
    }
  }

  /// Parts of a block that come in any order, each counted by one span, make the same block as those that are read
  /// again.
  @Test
  void partsOfABlock_joinToABlockThatVerifies() {
    for (int seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      BlockLayout layout = LAYOUTS.get(random.nextInt(LAYOUTS.size()));
      BlockDraft draft = draft(layout, seed);
      for (int granule = 0; granule < layout.granules(); granule++) {
        int rows = layout.rows(granule);
        boolean ofGranule = random.nextBoolean();
        for (int row = 0; row < rows;) {
          int count = random.nextInt(1, rows - row + 1);
          GranuleRange part = GranuleRange.rows(granule, row, count);
          BlockDraft.Span span = draft.writing(part);
          Blocks.fill(draft.key(), part.offset(layout), span.memory());
          count(span, random);
          span.close();
          if (ofGranule) {
            draft.verifyWithGranule(span, sums(draft, GranuleRange.whole(granule, 1))[0], "test");
          } else {
            draft.verify(span, sums(draft, part), "test");
          }
          row += count;
        }
      }
      try (Block block = draft.seal()) {
        Blocks.assertBytes(block);
        block.verify("test");
      }
    }
  }

  @Test
  void byteThatDiffers_isFound_andNamedByItsGranule() {
    for (int seed = 0; seed < 500; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      BlockLayout layout = LAYOUTS.get(random.nextInt(LAYOUTS.size()));
      try (BlockDraft draft = draft(layout, seed)) {
        GranuleRange range = range(layout, random);
        BlockDraft.Span span = draft.writing(range);
        Blocks.fill(draft.key(), range.offset(layout), span.memory());
        int wrong = random.nextInt((int) span.memory().byteSize());
        span.memory().set(ValueLayout.JAVA_BYTE, wrong,
            (byte) (span.memory().get(ValueLayout.JAVA_BYTE, wrong) ^ 1 << random.nextInt(8)));
        count(span, random);
        span.close();
        int granule = granuleAt(layout, range.offset(layout) + wrong);

        assertThatThrownBy(() -> draft.verify(span, sums(draft, range), "test")).as("seed %d", seed)
            .isInstanceOfSatisfying(BlockCorruptException.class, e -> assertThat(e.granule()).isEqualTo(granule));
        assertThat(draft.unverified(range)).as("seed %d: nothing is verified", seed).containsExactly(range);
      }
    }
  }

  private static int granuleAt(BlockLayout layout, int offset) {
    int granule = 0;
    while (granule + 1 < layout.granules() && layout.granuleOffset(granule + 1) <= offset) {
      granule++;
    }
    return granule;
  }

  @Test
  void rowsWithTheChecksumOfTheirGranule_thatDiffer_areFoundWithTheLast() {
    try (BlockDraft draft = draft(SPACE.layout(), 1)) {
      int expected = sums(draft, GranuleRange.whole(1, 1))[0];
      for (int row = 0; row < 4; row++) {
        GranuleRange part = GranuleRange.rows(1, row, 1);
        BlockDraft.Span span = draft.writing(part);
        Blocks.fill(draft.key(), part.offset(SPACE.layout()) + (row == 1 ? 1 : 0), span.memory());
        span.wrote(16);
        span.close();
        if (row < 3) {
          draft.verifyWithGranule(span, expected, "test");
        } else {
          assertThatThrownBy(() -> draft.verifyWithGranule(span, expected, "test"))
              .isInstanceOf(BlockCorruptException.class);
        }
      }
      assertThatThrownBy(() -> draft.span(GranuleRange.whole(1, 1))).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void bytesThatAreNotAllCounted_areNotCompared() {
    for (GranuleRange range : List.of(GranuleRange.whole(1, 2), GranuleRange.rows(1, 1, 2))) {
      try (BlockDraft draft = draft(SPACE.layout(), 1)) {
        BlockDraft.Span span = draft.writing(range);
        Blocks.fill(draft.key(), range.offset(SPACE.layout()), span.memory());
        int bytes = range.bytes(SPACE.layout());
        int[] expected = sums(draft, range);
        for (int i = 0; i < bytes; i++) {
          int counted = i;
          assertThatThrownBy(() -> draft.verify(span, expected, "test")).isInstanceOf(IllegalStateException.class)
              .hasMessage("bytes of a span must be counted, all " + bytes + " (were " + counted + ")");
          if (!range.isWhole()) {
            assertThatThrownBy(() -> draft.verifyWithGranule(span, expected[0], "test"))
                .isInstanceOf(IllegalStateException.class).hasMessageContaining("must be counted");
          }
          assertThat(draft.unverified(range)).containsExactly(range);
          span.wrote(1);
        }
        span.close();
        draft.verify(span, expected, "test");
        assertThat(draft.unverified(range)).isEmpty();
      }
    }
  }

  @Test
  void countBeyondTheMemory_isRefused_andChangesNothing() {
    GranuleRange range = GranuleRange.rows(2, 1, 2);
    try (BlockDraft draft = draft(SPACE.layout(), 1)) {
      BlockDraft.Span span = draft.writing(range);
      Blocks.fill(draft.key(), range.offset(SPACE.layout()), span.memory());
      span.wrote(20);
      assertThatThrownBy(() -> span.wrote(13)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> span.wrote(-1)).isInstanceOf(IndexOutOfBoundsException.class);
      span.wrote(0);
      span.wrote(12);
      span.close();
      draft.verify(span, sums(draft, range), "test");
    }
  }

  @Test
  void otherChecksumsThanGranules_areRefused() {
    try (BlockDraft draft = draft(SPACE.layout(), 1)) {
      GranuleRange range = GranuleRange.whole(0, 2);
      BlockDraft.Span span = draft.writing(range);
      Blocks.fill(draft.key(), 0, span.memory());
      span.wrote(128);
      span.close();
      int[] expected = sums(draft, GranuleRange.whole(0, 3));
      assertThatThrownBy(() -> draft.verify(span, expected, "test")).isInstanceOf(IllegalArgumentException.class)
          .hasMessage("checksums must be 2, one a granule (was 3)");
      assertThatThrownBy(() -> draft.verify(span, new int[] {expected[0]}, "test"))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> draft.verifyWithGranule(span, expected[0], "test"))
          .isInstanceOf(IllegalArgumentException.class).hasMessageStartingWith("range must be rows of a granule");
      assertThat(draft.unverified(range)).containsExactly(range);
    }
  }

  @Test
  void closedSpan_countsNoMore_isClosedOnce_andLeavesItsSlotOnce() {
    SlabArena arena = leaks.watch(new SlabArena("one", SPACE.layout(), 2, 1));
    BlockDraft draft = Blocks.draft(arena, Blocks.key(SPACE, 1));
    BlockDraft.Span span = draft.writing(GranuleRange.whole(0, 1));
    BlockDraft.Span other = draft.writing(GranuleRange.whole(1, 1));
    span.close();
    span.close();
    assertThatThrownBy(() -> span.wrote(1)).isInstanceOf(IllegalStateException.class);
    draft.close();
    assertThat(arena.claimedSlots()).as("the other span still holds it").isOne();
    other.close();
    other.close();
    assertThat(arena.claimedSlots()).isZero();
    assertThatThrownBy(() -> draft.verify(other, new int[1], "test")).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void draftThatEnded_takesNoCountedBytes() {
    BlockDraft draft = draft(SPACE.layout(), 1);
    GranuleRange range = GranuleRange.whole(0, 1);
    BlockDraft.Span span = draft.writing(range);
    Blocks.fill(draft.key(), 0, span.memory());
    span.wrote(64);
    int[] expected = sums(draft, range);
    draft.close();
    span.close();
    assertThatThrownBy(() -> draft.verify(span, expected, "test")).isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("draft must be open");
  }
}
