package io.penstock.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import io.penstock.check.Checksum;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.Race;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(30)
final class BlockDraftTest {
  private static final CacheSpace SPACE = Blocks.smallSpace(); // 4 granules of 64 bytes, 4 rows each
  private static final BlockLayout LAYOUT = SPACE.layout();

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private SlabArena arena;
  private BlockDraft draft;

  @BeforeEach
  void claim() {
    arena = leaks.watch(new SlabArena("a", LAYOUT, 4, 4));
    draft = Blocks.draft(arena, Blocks.key(SPACE, 1));
  }

  @Test
  void granules_inAnyOrder_makeABlockThatVerifies() {
    for (int granule : new int[] {2, 0, 3, 1}) {
      assertThat(draft.isComplete()).isFalse();
      Blocks.produce(draft, GranuleRange.whole(granule, 1));
    }
    sealAndCheck();
  }

  @Test
  void writing_draftClosedMeanwhile_keepsTheMemoryUntilTheSpanCloses() {
    BlockDraft.Span span = draft.writing(GranuleRange.whole(1, 2));
    draft.close();
    assertThat(arena.claimedSlots()).isOne();
    assertThat(span.memory().byteSize()).isEqualTo(128);

    span.close();
    assertThat(arena.claimedSlots()).isZero();
    assertThatThrownBy(span::memory).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void writing_verifiedBytes_isRefused() {
    draft.produced(GranuleRange.whole(1, 1));
    assertThatThrownBy(() -> draft.writing(GranuleRange.whole(0, 2))).isInstanceOf(IllegalStateException.class);
    draft.writing(GranuleRange.whole(2, 1)).close();
    draft.close();
  }

  @ParameterizedTest
  @EnumSource(TokenOrder.class)
  void rows_inAnyOrder_joinToTheChecksumOfTheirGranule(TokenOrder order) {
    draft.close();
    BlockLayout layout = BlockLayout.latent(3, 8, 7, 3, ElementType.BF16).withOrder(order);
    BlockLayout headed = BlockLayout.attention(3, 5, 8, 3, ElementType.INT8).withOrder(order);
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      BlockLayout shape = random.nextBoolean() ? layout : headed;
      SlabArena own = new SlabArena("rows", shape, 1, 1);
      draft = Blocks.draft(own, Blocks.key(SPACE, seed));
      List<GranuleRange> parts = new ArrayList<>();
      for (int granule = 0; granule < shape.granules(); granule++) {
        int rows = shape.rows(granule);
        for (int row = 0; row < rows;) {
          int count = 1 + random.nextInt(rows - row);
          parts.add(GranuleRange.rows(granule, row, count));
          row += count;
        }
      }
      Collections.shuffle(parts, random);
      for (GranuleRange part : parts) {
        Blocks.produce(draft, part);
      }
      assertThat(draft.isComplete()).as("seed %d", seed).isTrue();
      sealAndCheck();
      own.close();
    }
  }

  @Test
  void produced_twice_changesNothing() {
    Blocks.produce(draft, GranuleRange.rows(0, 1, 2));
    draft.produced(GranuleRange.rows(0, 1, 2));
    Blocks.produce(draft, GranuleRange.rows(0, 0, 1));
    Blocks.produce(draft, GranuleRange.rows(0, 3, 1));
    draft.produced(GranuleRange.rows(0, 1, 2));
    draft.produced(GranuleRange.whole(0, 1));
    Blocks.produce(draft, GranuleRange.whole(1, 3));
    draft.produced(GranuleRange.all(LAYOUT));
    sealAndCheck();
  }

  @Test
  void rows_thatOverlap_areRefused_andTheRestStillJoins() {
    Blocks.produce(draft, GranuleRange.rows(0, 1, 2));
    for (GranuleRange overlap : List.of(GranuleRange.rows(0, 0, 2), GranuleRange.rows(0, 1, 1),
        GranuleRange.rows(0, 2, 2),
        GranuleRange.rows(0, 0, 4))) {
      assertThatThrownBy(() -> draft.write(overlap, memory -> memory.fill((byte) 0)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("after they were verified");
      assertThatThrownBy(() -> draft.produced(overlap)).isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("twice");
    }
    assertThatThrownBy(() -> draft.write(GranuleRange.whole(0, 1), memory -> memory.fill((byte) 0)))
        .isInstanceOf(IllegalStateException.class);
    Blocks.produce(draft, GranuleRange.rows(0, 3, 1));
    Blocks.produce(draft, GranuleRange.rows(0, 0, 1));
    Blocks.produce(draft, GranuleRange.whole(1, 3));
    sealAndCheck();
  }

  @Test
  void write_afterTheGranuleWasVerified_isRefused_soVerifiedBytesAreFinal() {
    Blocks.produce(draft, GranuleRange.whole(0, 2));
    for (GranuleRange verified : List.of(GranuleRange.whole(0, 1), GranuleRange.whole(1, 2),
        GranuleRange.rows(1, 3, 1))) {
      assertThatThrownBy(() -> draft.write(verified, memory -> memory.fill((byte) 0)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("after they were verified");
    }
    Blocks.produce(draft, GranuleRange.whole(2, 2));
    sealAndCheck();
  }

  @Test
  void verify_ofGoodBytes_statesThem() {
    int[] sums = sums(GranuleRange.all(LAYOUT));
    GranuleRange upper = GranuleRange.whole(2, 2);
    draft.write(upper, memory -> Blocks.fill(draft.key(), upper.offset(LAYOUT), memory));
    draft.verify(upper, new int[] {sums[2], sums[3]}, "wire");
    draft.verify(upper, new int[] {sums[2], sums[3]}, "wire");
    GranuleRange lower = GranuleRange.whole(0, 2);
    draft.write(lower, memory -> Blocks.fill(draft.key(), 0, memory));
    draft.verify(lower, new int[] {sums[0], sums[1]}, "wire");
    sealAndCheck();
  }

  @Test
  void verify_ofCorruptBytes_namesGranuleAndBoundary_andStatesNothing() {
    GranuleRange all = GranuleRange.all(LAYOUT);
    int[] sums = sums(all);
    draft.write(all, memory -> {
      Blocks.fill(draft.key(), 0, memory);
      memory.set(ValueLayout.JAVA_BYTE, 130, (byte) ~Blocks.byteAt(draft.key(), 130));
    });
    assertThatThrownBy(() -> draft.verify(all, sums, "wire")).isInstanceOfSatisfying(BlockCorruptException.class, e -> {
      assertThat(e.granule()).isEqualTo(2);
      assertThat(e.expected()).isEqualTo(sums[2]);
      assertThat(e.actual()).isNotEqualTo(sums[2]);
      assertThat(e.key()).isEqualTo(draft.key());
    }).hasMessageContaining("at wire");
    assertThatThrownBy(() -> draft.seal()).isInstanceOfSatisfying(IncompleteBlockException.class,
        e -> assertThat(e.missing()).isEqualTo(4));
    draft.write(all, memory -> Blocks.fill(draft.key(), 0, memory)); // sent again
    draft.verify(all, sums, "wire");
    sealAndCheck();
  }

  @Test
  void verify_withTheWrongNumberOfChecksums_isRefused() {
    assertThatThrownBy(() -> draft.verify(GranuleRange.whole(0, 2), new int[1], "wire"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> draft.verify(GranuleRange.whole(0, 1), new int[2], "wire"))
        .isInstanceOf(IllegalArgumentException.class);
    draft.close();
  }

  @Test
  void ranges_outsideTheBlock_areRefused() {
    for (GranuleRange range : List.of(GranuleRange.whole(3, 2), GranuleRange.rows(0, 3, 2),
        GranuleRange.rows(4, 0, 1))) {
      assertThatThrownBy(() -> draft.write(range, memory -> {})).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> draft.produced(range)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> draft.verify(range, new int[range.count()], "x"))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> draft.span(range)).isInstanceOf(IndexOutOfBoundsException.class);
    }
    draft.close();
  }

  @Test
  void span_beforeItsGranulesWereVerified_isRefused() {
    Blocks.produce(draft, GranuleRange.rows(0, 0, 2));
    assertThatThrownBy(() -> draft.span(GranuleRange.whole(0, 1))).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> draft.span(GranuleRange.rows(0, 2, 2))).isInstanceOf(IllegalStateException.class);
    Blocks.produce(draft, GranuleRange.rows(0, 2, 2));
    LayerSpan span = draft.span(GranuleRange.whole(0, 1));
    assertThatThrownBy(() -> draft.span(GranuleRange.whole(0, 2))).isInstanceOf(IllegalStateException.class);
    draft.close();
    Blocks.assertBytes(span); // it outlives the draft
    span.verify("test");
    span.close();
  }

  @Test
  void seal_ofAnIncompleteDraft_tellsWhatIsMissing_andLeavesItOpen() {
    Blocks.produce(draft, GranuleRange.whole(0, 1));
    Blocks.produce(draft, GranuleRange.whole(2, 1));
    assertThatThrownBy(() -> draft.seal()).isInstanceOfSatisfying(IncompleteBlockException.class, e -> {
      assertThat(e.missing()).isEqualTo(2);
      assertThat(e).hasMessageContaining("first 1");
    });
    Blocks.produce(draft, GranuleRange.whole(1, 1));
    Blocks.produce(draft, GranuleRange.whole(3, 1));
    sealAndCheck();
  }

  @Test
  void everything_afterSealOrClose_isRefused() {
    Block block = Blocks.produce(draft).seal();
    BlockDraft other = Blocks.draft(arena, Blocks.key(SPACE, 2));
    other.close();
    other.close();
    for (BlockDraft over : List.of(draft, other)) {
      assertThatThrownBy(() -> over.write(GranuleRange.whole(0, 1), memory -> {}))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> over.produced(GranuleRange.whole(0, 1))).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> over.verify(GranuleRange.whole(0, 1), new int[1], "x"))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> over.span(GranuleRange.whole(0, 1))).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(over::seal).isInstanceOfAny(IllegalStateException.class, IncompleteBlockException.class);
    }
    draft.close(); // after the seal it is not its owner any more
    assertThat(arena.claimedSlots()).isEqualTo(1);
    Blocks.assertBytes(block);
    block.close();
  }

  @Test
  void close_duringAWrite_returnsAtOnce_andFreesAfterTheWriter() {
    draft.write(GranuleRange.all(LAYOUT), memory -> {
      draft.close();
      assertThat(arena.claimedSlots()).isEqualTo(1);
      memory.fill((byte) 1);
    });
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void write_thatThrows_unpins() {
    assertThatThrownBy(() -> draft.write(GranuleRange.whole(0, 1), memory -> {
      throw new IllegalStateException("writer");
    })).hasMessage("writer");
    draft.close();
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void sealAgainstClose_oneWins_andNothingLeaks() {
    sealAgainstClose_oneWins_andNothingLeaks(1_500);
  }

  @Tag("proof")
  @Test
  void sealAgainstClose_oneWins_andNothingLeaks_atLength() {
    sealAgainstClose_oneWins_andNothingLeaks(5_000);
  }

  private void sealAgainstClose_oneWins_andNothingLeaks(int runs) {
    draft.close();
    try (Race race = new Race(3)) {
      for (int i = 0; i < runs; i++) {
        BlockDraft contended = Blocks.produce(Blocks.draft(arena, Blocks.key(SPACE, i)));
        AtomicReference<Block> sealed = new AtomicReference<>();
        race.run(contended::close, () -> {
          try {
            sealed.set(contended.seal());
          } catch (IllegalStateException lost) {
            assertThat(contended.isClosed()).isTrue();
          }
        }, () -> {
          try {
            contended.span(GranuleRange.whole(0, 1)).close();
          } catch (IllegalStateException lost) {
            assertThat(contended.isClosed()).isTrue();
          }
        });
        assertThat(arena.claimedSlots()).as("run %d", i).isEqualTo(sealed.get() == null ? 0 : 1);
        if (sealed.get() != null) {
          sealed.get().verify("test");
          sealed.get().close();
        }
      }
    }
  }

  @Test
  void writersOfDifferentParts_mayRunAtTheSameTime() {
    writersOfDifferentParts_mayRunAtTheSameTime(1_000);
  }

  @Tag("proof")
  @Test
  void writersOfDifferentParts_mayRunAtTheSameTime_atLength() {
    writersOfDifferentParts_mayRunAtTheSameTime(3_000);
  }

  private void writersOfDifferentParts_mayRunAtTheSameTime(int runs) {
    draft.close();
    try (Race race = new Race(3)) {
      for (int i = 0; i < runs; i++) {
        draft = Blocks.draft(arena, Blocks.key(SPACE, i));
        race.run(() -> Blocks.produce(draft, GranuleRange.whole(0, 2)), () -> {
          Blocks.produce(draft, GranuleRange.rows(2, 0, 2));
          Blocks.produce(draft, GranuleRange.whole(3, 1));
        }, () -> Blocks.produce(draft, GranuleRange.rows(2, 2, 2)));
        assertThatCode(this::sealAndCheck).as("run %d", i).doesNotThrowAnyException();
      }
    }
  }

  private int[] sums(GranuleRange range) {
    try (Block sample = Blocks.block(arena, draft.key()); LayerSpan span = sample.span(range)) {
      return span.checksums("test");
    }
  }

  private void sealAndCheck() {
    try (Block block = draft.seal()) {
      Blocks.assertBytes(block);
      block.verify("test");
      for (int granule = 0; granule < block.layout().granules(); granule++) {
        int from = block.layout().granuleOffset(granule);
        int bytes = block.layout().granuleBytes(granule);
        assertThat(block.checksum(granule))
            .isEqualTo(block.<Integer>read(memory -> Checksum.of(memory.asSlice(from, bytes))));
      }
    }
  }
}
