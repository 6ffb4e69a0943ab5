package io.penstock.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.check.Checksum;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.Race;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Blocks, spans and slices: who holds what, and for how long.
@Timeout(30)
final class BlockTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final BlockLayout LAYOUT = SPACE.layout();

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private SlabArena arena;
  private Block block;

  @BeforeEach
  void make() {
    arena = leaks.watch(new SlabArena("a", LAYOUT, 2, 4));
    block = Blocks.block(arena, Blocks.key(SPACE, 1));
  }

  @Test
  void close_twice_freesOnce_andNeverAnotherOwnersBlock() {
    Block share = block.share();
    block.close();
    block.close();
    assertThat(arena.claimedSlots()).isEqualTo(1);
    Blocks.assertBytes(share);
    share.close();
    assertThat(arena.claimedSlots()).isZero();
    Block next = Blocks.block(arena, Blocks.key(SPACE, 2)); // the same slot
    block.close();
    share.close();
    Blocks.assertBytes(next);
    next.close();
  }

  @Test
  void everything_afterClose_isRefused_evenWhenTheSlotHasANewOwner() {
    LayerSpan span = block.span(GranuleRange.whole(1, 2));
    LayerSpan rows = block.span(GranuleRange.rows(0, 1, 2));
    span.close();
    rows.close();
    block.close();
    try (Block next = Blocks.block(arena, Blocks.key(SPACE, 2))) {
      assertThatThrownBy(() -> block.read(memory -> 0)).isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("was closed");
      assertThatThrownBy(block::share).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> block.verify("x")).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> block.span(GranuleRange.whole(0, 1))).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> span.read(memory -> 0)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(span::memory).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(span::share).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> span.verify("x")).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> rows.verify("x")).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> rows.checksums("x")).isInstanceOf(IllegalStateException.class);
      next.verify("test");
    }
  }

  @Test
  void memory_isReadOnly() {
    block.read(memory -> {
      assertThat(memory.isReadOnly()).isTrue();
      return 0;
    });
    try (LayerSpan span = block.span(GranuleRange.whole(0, 1))) {
      assertThatThrownBy(() -> span.memory().set(ValueLayout.JAVA_BYTE, 0, (byte) 0))
          .isInstanceOf(RuntimeException.class);
    }
    block.close();
  }

  @Test
  void read_pins_soACloseInsideDoesNotFree() {
    Byte last = block.read(memory -> {
      block.close();
      assertThat(arena.claimedSlots()).isEqualTo(1);
      return memory.get(ValueLayout.JAVA_BYTE, LAYOUT.blockBytes() - 1);
    });
    assertThat(last).isEqualTo(Blocks.byteAt(block.key(), LAYOUT.blockBytes() - 1));
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void span_ofRows_answersTheChecksumOfExactlyThoseRows() {
    for (GranuleRange rows : List.of(GranuleRange.rows(1, 0, 1), GranuleRange.rows(1, 1, 2), GranuleRange.rows(1, 2, 2),
        GranuleRange.rows(1, 0, 4))) {
      try (LayerSpan span = block.span(rows)) {
        Blocks.assertBytes(span);
        span.verify("test");
        assertThat(span.checksums("test")).containsExactly(span.<Integer>read(Checksum::of));
        assertThat(span.bytes()).isEqualTo(rows.rows() * 16);
      }
    }
    block.close();
  }

  @Test
  void span_ofRows_noticesCorruptionAnywhereInItsGranule() {
    Blocks.corrupt(block, 64 + 63);
    try (LayerSpan rows = block.span(GranuleRange.rows(1, 0, 1));
        LayerSpan other = block.span(GranuleRange.rows(0, 0, 1))) {
      Blocks.assertBytes(rows); // its own bytes are fine
      assertThatThrownBy(() -> rows.checksums("wire")).isInstanceOf(BlockCorruptException.class)
          .hasMessageContaining("granule 1 ");
      assertThatThrownBy(() -> rows.verify("wire")).isInstanceOf(BlockCorruptException.class);
      other.verify("wire");
    }
    block.close();
  }

  @Test
  void span_outsideTheBlockOrShareOutsideTheSpan_isRefused() {
    assertThatThrownBy(() -> block.span(GranuleRange.whole(3, 2))).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> block.span(GranuleRange.rows(0, 3, 2))).isInstanceOf(IndexOutOfBoundsException.class);
    try (LayerSpan span = block.span(GranuleRange.whole(1, 2))) {
      assertThatThrownBy(() -> span.share(GranuleRange.whole(0, 2))).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> span.share(GranuleRange.rows(3, 0, 1))).isInstanceOf(IllegalArgumentException.class);
      try (LayerSpan part = span.share(GranuleRange.rows(2, 1, 2))) {
        Blocks.assertBytes(part);
      }
    }
    assertThatThrownBy(() -> block.checksum(4)).isInstanceOf(IndexOutOfBoundsException.class);
    block.close();
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void span_keepsTheBlockAlive() {
    LayerSpan span = block.span(GranuleRange.whole(2, 1));
    LayerSpan share = span.share();
    block.close();
    span.close();
    Blocks.assertBytes(share);
    ByteBuffer view = share.memory().asByteBuffer();
    assertThat(view.isDirect()).isTrue();
    share.close();
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void sharesMemoryWith_tellsHandlesFromCopies() {
    Block copy = Blocks.block(arena, block.key());
    try (Block share = block.share()) {
      assertThat(block.sharesMemoryWith(share)).isTrue();
      assertThat(block.sharesMemoryWith(copy)).isFalse();
    }
    copy.close();
    block.close();
  }

  @Test
  void slice_ownsItsSpans_andRefusesOthers() {
    Block second = Blocks.block(arena, Blocks.key(SPACE, 2));
    GranuleRange range = GranuleRange.whole(1, 2);
    LayerSlice slice =
        new LayerSlice(new LayerSlice.Position(0, 3), range, new int[] {4, 9},
            List.of(block.span(range), second.span(range)));
    block.close();
    second.close();
    assertThat(slice.bytes()).isEqualTo(2 * 128);
    assertThat(slice.position(1)).isEqualTo(9);
    slice.spans().forEach(Blocks::assertBytes);
    assertThatThrownBy(() -> new LayerSlice(new LayerSlice.Position(0, 0), range, new int[] {1}, slice.spans()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new LayerSlice(new LayerSlice.Position(0, 0), range, new int[0], List.of()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
        () -> new LayerSlice(new LayerSlice.Position(0, 0), GranuleRange.whole(1, 1), new int[] {4, 9}, slice.spans()))
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("spans must all be of");
    slice.close();
    slice.close();
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void readAgainstClose_readsItsOwnBytesOrIsRefused() {
    readAgainstClose_readsItsOwnBytesOrIsRefused(2_400);
  }

  @Tag("proof")
  @Test
  void readAgainstClose_readsItsOwnBytesOrIsRefused_atLength() {
    readAgainstClose_readsItsOwnBytesOrIsRefused(8_000);
  }

  private void readAgainstClose_readsItsOwnBytesOrIsRefused(int runs) {
    block.close();
    AtomicInteger reads = new AtomicInteger();
    AtomicInteger refusals = new AtomicInteger();
    try (Race race = new Race(3)) {
      for (int i = 0; i < runs; i++) {
        Block contended = Blocks.block(arena, Blocks.key(SPACE, i));
        LayerSpan span = contended.span(GranuleRange.rows(3, 1, 2));
        List<Runnable> readers = List.of(() -> Blocks.assertBytes(contended), () -> contended.verify("race"),
            () -> contended.share().close(), () -> span.verify("race"), () -> span.checksums("race"),
            () -> Blocks.assertBytes(span));
        Runnable reader = readers.get(i % readers.size());
        race.run(() -> {
          contended.close();
          span.close();
          contended.close();
        }, () -> {
          try {
            reader.run();
            reads.incrementAndGet();
          } catch (IllegalStateException e) {
            refusals.incrementAndGet();
          }
        }, () -> { // the freed slot gets other bytes at once
          List<BlockDraft> drafts = arena.tryClaim(List.of(Blocks.key(SPACE, -1)));
          if (drafts != null) {
            drafts.getFirst().write(GranuleRange.all(LAYOUT), memory -> memory.fill((byte) 0x5A));
            drafts.getFirst().close();
          }
        });
        assertThat(arena.claimedSlots()).as("run %d", i).isZero();
      }
    }
    assertThat(reads.get() + refusals.get()).isEqualTo(runs);
    assertThat(reads).as("some came first").hasPositiveValue();
  }

  @Test
  void closeOfManyHandles_fromManyThreads_freesOnce() {
    block.close();
    try (Race race = new Race(3)) {
      for (int i = 0; i < 4_000; i++) {
        Block first = Blocks.block(arena, Blocks.key(SPACE, i));
        List<Owned> handles = new ArrayList<>(List.of(first, first.share(), first.span(GranuleRange.whole(0, 1))));
        Runnable closeAll = () -> handles.forEach(Owned::close);
        race.run(closeAll, closeAll, closeAll);
        assertThat(arena.claimedSlots()).as("run %d", i).isZero();
      }
    }
  }

  @Test
  void closedArena_doesNotBreakAReaderThatHolds() {
    MemorySegment memory = block.read(segment -> segment);
    arena.close();
    Blocks.assertBytes(block);
    block.close();
    assertThat(memory.scope().isAlive()).isFalse();
  }
}
