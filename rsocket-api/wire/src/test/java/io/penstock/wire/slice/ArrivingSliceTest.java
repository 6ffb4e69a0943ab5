package io.penstock.wire.slice;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.testkit.Blocks;
import io.penstock.tier.slice.DraftWindow;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ArrivingSliceTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(2, 16, 2, 128, ElementType.BF16);
  private static final CacheSpace SPACE = CacheSpace.of("arriving", LAYOUT);
  private static final GranuleRange ALL = GranuleRange.all(LAYOUT);

  private final List<BlockKey> keys = Blocks.keys(SPACE, 0, 2);
  private final SlabArena sending = new SlabArena("sending", LAYOUT, 2, 1);
  private final SlabArena landing = new SlabArena("landing", LAYOUT, 2, 1);
  private final List<BlockDraft> sources = requireNonNull(sending.tryClaim(keys));
  private final List<BlockDraft> drafts = requireNonNull(landing.tryClaim(keys));
  private final DraftWindow window = new DraftWindow(0);
  private final SliceHeader header = header();

  private SliceHeader header() {
    for (int i = 0; i < 2; i++) {
      BlockDraft source = sources.get(i);
      source.write(ALL, memory -> Blocks.fill(source.key(), 0, memory));
      source.produced(ALL);
      window.add(i, drafts.get(i));
    }
    try (LayerSlice slice = new LayerSlice(new LayerSlice.Position(0, 0), ALL, new int[] {0, 1},
        sources.stream().map(source -> source.span(ALL)).toList())) {
      ByteBuf head = SliceHeader.encode(slice, SPACE.id(), LAYOUT, UnpooledByteBufAllocator.DEFAULT);
      try {
        assertThat(ArrivingSlice.headBytes(head)).isEqualTo(head.readableBytes());
        return SliceHeader.decode(head, head.readableBytes() + 2 * LAYOUT.blockBytes(), SPACE.id(), LAYOUT, 1 << 20, 2);
      } finally {
        head.release();
      }
    }
  }

  @AfterEach
  void end() {
    sources.forEach(BlockDraft::close);
    drafts.forEach(BlockDraft::close);
    assertThat(landing.claimedSlots()).isZero();
    landing.close();
    sending.close();
  }

  private static void fill(ArrivingSlice slice, BlockKey key, int from, int bytes) {
    for (int done = 0; done < bytes;) {
      ByteBuffer next = slice.next();
      int part = Math.min(next.remaining(), bytes - done);
      Blocks.fill(key, from + done, MemorySegment.ofBuffer(next).asSlice(0, part));
      slice.filled(part);
      done += part;
    }
  }

  private ArrivingSlice arrive() {
    window.follow(header.place());
    return ArrivingSlice.of(header, window);
  }

  @Test
  void bytesThatCameInAnyParts_landWithoutACopy() {
    ArrivingSlice slice = arrive();
    SplittableRandom random = new SplittableRandom(1);
    for (BlockKey key : keys) {
      for (int from = 0; from < LAYOUT.blockBytes();) {
        int bytes = random.nextInt(1, LAYOUT.blockBytes() - from + 1);
        fill(slice, key, from, bytes);
        from += bytes;
      }
    }
    slice.close();

    Landing.inline().land(slice, LAYOUT, window);

    drafts.forEach(draft -> {
      try (var block = draft.seal()) {
        Blocks.assertBytes(block);
      }
    });
  }

  @Test
  void byteThatDiffers_isFoundWhenTheyLand() {
    ArrivingSlice slice = arrive();
    fill(slice, keys.getFirst(), 0, LAYOUT.blockBytes());
    fill(slice, keys.getFirst(), 0, LAYOUT.blockBytes()); // not the bytes of the last block
    slice.close();

    assertThatThrownBy(() -> Landing.inline().land(slice, LAYOUT, window))
        .isInstanceOf(BlockCorruptException.class).hasMessageContaining(keys.getLast().toString());
  }

  @Test
  void draftsThatEndMeanwhile_leaveTheMemoryToWhatComes() {
    ArrivingSlice slice = arrive();
    fill(slice, keys.getFirst(), 0, 100);

    drafts.forEach(BlockDraft::close);

    assertThat(landing.claimedSlots()).isEqualTo(2);
    fill(slice, keys.getFirst(), 100, LAYOUT.blockBytes() - 100);
    slice.close();
    assertThat(landing.claimedSlots()).isZero();
  }

  @Test
  void partThatIsVerified_isNotWrittenAgain() {
    drafts.getLast().write(ALL, memory -> Blocks.fill(keys.getLast(), 0, memory));
    drafts.getLast().produced(ALL);

    assertThatThrownBy(this::arrive).isInstanceOf(UnexpectedSliceException.class);

    drafts.getFirst().close();
    assertThat(landing.claimedSlots()).isEqualTo(1); // no part is held
  }
}
