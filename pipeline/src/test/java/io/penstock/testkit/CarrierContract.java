package io.penstock.testkit;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SliceShape;
import io.penstock.carrier.SliceReceiver;
import io.penstock.carrier.SliceReceiver.IncomingFrame;
import io.penstock.carrier.SliceReceiver.SliceBytes;
import io.penstock.carrier.SliceSender;
import io.penstock.carrier.SliceSender.OutgoingFrame;
import io.penstock.carrier.UnlandedSlices;
import io.penstock.tier.slice.DraftWindow;
import io.penstock.tier.slice.SlicePlan;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/// What every carrier of slices must keep: each byte arrives as it was, in a draft that verifies it, and each share of
/// a block is given back once, however the stream ends.
public abstract class CarrierContract {
  private static final int LAYOUTS = 60;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final List<SliceFrame> sent = new ArrayList<>();

  /// The two ends of a carrier on one connection.
  ///
  /// @param closed ends it
  public record Ends(SliceSender sender, SliceReceiver receiver, Runnable closed) {}

  /// A connection of its own.
  protected abstract Ends connect();

  /// Memory of the sender's blocks.
  protected abstract ChunkSource chunks();

  /// One frame in memory: what stands behind the header, and what it keeps.
  private static final class SliceFrame implements OutgoingFrame, IncomingFrame {
    private final LayerSlice slice;
    private final UnlandedSlices unlanded;
    private final List<LayerSpan> carried = new ArrayList<>();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private byte[] body = {};
    private boolean isReferring;

    SliceFrame(LayerSlice slice, UnlandedSlices unlanded) {
      this.slice = slice;
      this.unlanded = unlanded;
    }

    @Override
    public void carry(LayerSpan span) {
      carried.add(span.share());
      out.writeBytes(span.read(memory -> memory.toArray(JAVA_BYTE)));
    }

    @Override
    public void refer(byte[] references) {
      isReferring = true;
      out.writeBytes(references);
      unlanded.keep(slice);
    }

    SliceFrame sent() {
      body = out.toByteArray();
      return this;
    }

    @Override
    public int bytes() {
      return body.length;
    }

    @Override
    public void read(int offset, MemorySegment to) {
      to.copyFrom(MemorySegment.ofArray(body).asSlice(offset, to.byteSize()));
    }

    /// The transport is done with it.
    void release() {
      carried.forEach(LayerSpan::close);
    }
  }

  /// The blocks of one window at a sender and the drafts at a receiver.
  private final class Window implements AutoCloseable {
    private final Ends ends = connect();
    private final BlockLayout layout;
    private final SlabArena from;
    private final SlabArena to;
    private final List<Block> blocks;
    private final List<BlockDraft> drafts;
    private final DraftWindow window = new DraftWindow(0);
    private final UnlandedSlices unlanded = new UnlandedSlices(() -> {});
    private final List<SlicePlan.Cut> cuts;

    Window(BlockLayout layout, int count, int maxBytes) {
      CacheSpace space = CacheSpace.of("carrier", layout);
      List<BlockKey> keys = Blocks.keys(space, 0, count);
      this.layout = layout;
      this.from = leaks.watch(new SlabArena("from", layout, count, 1, chunks()));
      this.to = leaks.watch(new SlabArena("to", layout, count, 1));
      this.blocks = keys.stream().map(key -> Blocks.block(from, key)).toList();
      this.drafts = requireNonNull(to.tryClaim(keys));
      for (int i = 0; i < count; i++) {
        window.add(i, drafts.get(i));
      }
      this.cuts = SlicePlan.of(layout, count, 0, maxBytes, SliceShape.Order.LAYER_FIRST);
    }

    int slices() {
      return cuts.size();
    }

    /// Offers the `i`-th slice and closes it, as the owner of a slice does.
    SliceFrame offer(int i) {
      try (LayerSlice slice = SlicePlan.slice(cuts, i, 0, new SlicePlan.Spans() {
        @Override
        public int position(int block) {
          return block;
        }

        @Override
        public LayerSpan span(int block, GranuleRange range) {
          return blocks.get(block).span(range);
        }
      })) {
        SliceFrame frame = new SliceFrame(slice, unlanded);
        ends.sender().offer(slice, frame);
        sent.add(frame);
        return frame.sent();
      }
    }

    void land(SliceFrame frame) {
      LayerSlice slice = frame.slice;
      SliceBytes bytes = ends.receiver().arrived(frame, slice.spans().size(), slice.range().bytes(layout));
      window.follow(slice.place());
      for (int i = 0; i < slice.spans().size(); i++) {
        int block = i;
        int position = slice.position(i);
        int[] checksums;
        try (LayerSpan span = blocks.get(position).span(slice.range())) {
          checksums = span.checksums("contract");
        }
        window.land(position, slice.range(), checksums, "contract", memory -> bytes.read(block, memory));
      }
    }

    void requireBytes() {
      window.requireComplete(0);
      drafts.forEach(draft -> {
        try (Block landed = draft.seal()) {
          Blocks.assertBytes(landed);
        }
      });
    }

    @Override
    public void close() {
      unlanded.close();
      blocks.forEach(Block::close);
      drafts.forEach(BlockDraft::close);
      sent.forEach(SliceFrame::release);
      sent.clear();
      ends.closed().run();
    }
  }

  private static BlockLayout layout(Random random) {
    List<Plane> planes = new ArrayList<>();
    int count = 1 + random.nextInt(3);
    for (int i = 0; i < count; i++) {
      Plane.Kind kind = Plane.Kind.values()[i];
      planes.add(new Plane(kind, random.nextBoolean() ? ElementType.BF16 : ElementType.INT8, 1 + random.nextInt(4),
          1 + random.nextInt(32)));
    }
    return new BlockLayout(1 + random.nextInt(4), 1 + random.nextInt(16),
        random.nextBoolean() ? TokenOrder.NHD : TokenOrder.HND, planes);
  }

  private static int largestRow(BlockLayout layout) {
    int largest = 0;
    for (int granule = 0; granule < layout.granules(); granule++) {
      largest = Math.max(largest, layout.rowBytes(granule));
    }
    return largest;
  }

  @Test
  void bytes_ofRandomLayoutsAndCuts_arriveAsTheyWere() {
    for (int seed = 0; seed < LAYOUTS; seed++) {
      Random random = new Random(seed);
      BlockLayout layout = layout(random);
      int maxBytes = largestRow(layout) + random.nextInt(2 * layout.blockBytes());
      try (Window window = new Window(layout, 1 + random.nextInt(5), maxBytes)) {
        for (int i = 0; i < window.slices(); i++) {
          window.land(window.offer(i));
        }
        window.requireBytes();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ": " + layout, e);
      }
    }
  }

  @Test
  void aByteThatChanged_isFoundInTheReceiversMemory_andItsBlockIsNamed() {
    try (Window window = new Window(Blocks.smallLayout(), 3, 4096)) {
      SliceFrame frame = window.offer(0);
      if (frame.isReferring) {
        Blocks.corrupt(window.blocks.get(1), 7);
      } else {
        frame.body[Blocks.smallLayout().blockBytes() + 7] ^= 1;
      }
      assertThatThrownBy(() -> window.land(frame)).isInstanceOfSatisfying(BlockCorruptException.class,
          e -> assertThat(e.key()).isEqualTo(window.blocks.get(1).key()));
    }
  }

  @Test
  void shares_goBackOnce_whenLandedAndReleased_inEitherOrder() {
    for (boolean landedFirst : new boolean[] {true, false}) {
      try (Window window = new Window(Blocks.smallLayout(), 2, 4096)) {
        SliceFrame frame = window.offer(0);
        window.land(frame);
        window.blocks.forEach(Block::close);
        assertThat(window.from.claimedSlots()).as("kept until landed and released").isEqualTo(2);
        if (landedFirst) {
          window.unlanded.landed(0);
          frame.release();
        } else {
          frame.release();
          window.unlanded.landed(0);
        }
        assertThat(window.from.claimedSlots()).isZero();
        window.requireBytes();
      }
    }
  }

  @Test
  void shares_goBack_whenTheStreamEndsBeforeLanding_andNothingIsKeptAfterIt() {
    Random random = new Random(7);
    for (int round = 0; round < 200; round++) {
      try (Window window = new Window(Blocks.smallLayout(), 4, 128 + random.nextInt(512))) {
        int until = random.nextInt(window.slices() + 1);
        for (int i = 0; i < until; i++) {
          SliceFrame frame = window.offer(i);
          if (random.nextBoolean()) {
            frame.release();
          }
        }
        window.unlanded.close();
        if (until < window.slices()) {
          window.offer(until); // the cancel was on its way
        }
        assertThat(window.unlanded.isEmpty()).isTrue();
      }
      leaks.assertEmpty();
    }
  }

  /// What a frame says is the peer's: every frame that is cut short, made longer or has a bit flipped gives the right
  /// bytes or a typed error.
  @Test
  void aFrameThatWasDamaged_isATypedError_orChangesNoByte() {
    Random random = new Random(11);
    for (int round = 0; round < 400; round++) {
      try (Window window = new Window(Blocks.smallLayout(), 2, 4096)) {
        SliceFrame frame = window.offer(0);
        damage(frame, random);
        try {
          window.land(frame);
          window.requireBytes();
        } catch (KvException | IndexOutOfBoundsException e) { // a frame of bytes has a header that says its length
          assertThat(frame.isReferring && e instanceof IndexOutOfBoundsException).as("untyped: " + e).isFalse();
        }
      }
    }
  }

  private static void damage(SliceFrame frame, Random random) {
    switch (random.nextInt(3)) {
      case 0 -> frame.body = Arrays.copyOf(frame.body, random.nextInt(frame.body.length));
      case 1 -> frame.body = Arrays.copyOf(frame.body, frame.body.length + 1 + random.nextInt(64));
      default -> frame.body[random.nextInt(frame.body.length)] ^= (byte) (1 << random.nextInt(8));
    }
  }
}
