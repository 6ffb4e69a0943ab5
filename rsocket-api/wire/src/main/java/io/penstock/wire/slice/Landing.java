package io.penstock.wire.slice;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.carrier.InlineCarrier;
import io.penstock.carrier.SliceReceiver;
import io.penstock.carrier.SliceReceiver.IncomingFrame;
import io.penstock.carrier.SliceReceiver.SliceBytes;
import io.penstock.tier.slice.DraftWindow;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.Carried;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// Copies the bytes of the slices of one stream into the drafts of their window, the one copy on the way in, and
/// verifies them there. Bytes that were read into the drafts ([ArrivingSlice]) are only compared. Reports each landed
/// window to a sender that keeps blocks until then.
public final class Landing {
  /// Reads the bytes of slices whose frames have references; null if the peer must not send such slices.
  private final @Nullable SliceReceiver shared;
  private final IntConsumer landed;
  private final Carried carried;
  private final Consumer<BlockKey> damaged;
  /// Whether the sender keeps blocks that have landed.
  private boolean owed;

  private Landing(@Nullable SliceReceiver shared, IntConsumer landed, Carried carried, Consumer<BlockKey> damaged) {
    this.shared = shared;
    this.landed = landed;
    this.carried = carried;
    this.damaged = damaged;
  }

  /// Landing of a stream whose slices have their bytes in their frames.
  public static Landing inline() {
    return of(null, window -> {}, Carried.UNCOUNTED);
  }

  /// @param shared reads the bytes of slices whose frames have references; null if there must be none
  /// @param landed sends the sender the number of a window all of whose slices have landed
  /// @param carried receives each slice that landed
  public static Landing of(@Nullable SliceReceiver shared, IntConsumer landed, Carried carried) {
    return of(shared, landed, carried, key -> {});
  }

  /// @param damaged receives each block whose bytes differ from the checksum that came along, before the error
  public static Landing of(@Nullable SliceReceiver shared, IntConsumer landed, Carried carried,
      Consumer<BlockKey> damaged) {
    return new Landing(shared, landed, carried, damaged);
  }

  /// @param data the slice
  /// @param window has a draft at each position of the slice
  /// @throws io.penstock.block.BlockCorruptException if a granule differs from the checksum that came along
  /// @throws io.penstock.block.UnexpectedSliceException if a part of the range came before, or a reference is wrong
  /// @throws io.penstock.carrier.PeerMemoryException if memory of the sender cannot be read
  public void land(ByteBuf data, SliceHeader header, BlockLayout layout, DraftWindow window) {
    reportingDamage(() -> land(data, header, layout, window::land));
  }

  /// Lands a slice whose bytes are in the drafts.
  ///
  /// @throws io.penstock.block.BlockCorruptException if a granule differs from the checksum that came along
  public void land(ArrivingSlice arrived, BlockLayout layout, DraftWindow window) {
    reportingDamage(() -> land(arrived, layout, window::land));
  }

  private void reportingDamage(Runnable land) {
    try {
      land.run();
    } catch (BlockCorruptException e) {
      damaged.accept(e.key());
      throw e;
    }
  }

  /// Lands a slice; wrong bytes end their block alone, see [DraftWindow#landIntact].
  public void landIntact(ByteBuf data, SliceHeader header, BlockLayout layout, DraftWindow window) {
    land(data, header, layout, window::landIntact);
  }

  /// Lands a slice whose bytes are in the drafts; wrong bytes end their block alone.
  public void landIntact(ArrivingSlice arrived, BlockLayout layout, DraftWindow window) {
    land(arrived, layout, window::landIntact);
  }

  /// Whether the sender keeps blocks that have landed.
  public boolean isOwed() {
    return owed;
  }

  /// Reports to the sender that all slices of `window` have landed, if it keeps blocks for that.
  public void tell(int window) {
    if (owed) {
      owed = false;
      landed.accept(window);
    }
  }

  private interface Part {
    void land(int position, GranuleRange range, Consumer<MemorySegment> writer, Consumer<BlockDraft> check);
  }

  private void land(ByteBuf data, SliceHeader header, BlockLayout layout, Part part) {
    owed |= header.isReferring();
    int each = header.range().bytes(layout);
    SliceBytes bytes = receiver(header).arrived(new Body(data, data.readerIndex() + header.bytes()),
        header.positions().length, each);
    for (int i = 0; i < header.positions().length; i++) {
      int block = i;
      part.land(header.positions()[i], header.range(), memory -> bytes.read(block, memory),
          draft -> header.compare(block, draft));
    }
    carried.count((long) each * header.positions().length, header.isReferring());
  }

  private void land(ArrivingSlice arrived, BlockLayout layout, Part part) {
    SliceHeader header = arrived.header();
    for (int i = 0; i < header.positions().length; i++) {
      int block = i;
      part.land(header.positions()[i], header.range(), memory -> {}, draft -> arrived.compare(block, draft));
    }
    carried.count((long) header.range().bytes(layout) * header.positions().length, false);
  }

  private SliceReceiver receiver(SliceHeader header) {
    if (!header.isReferring()) {
      return InlineCarrier.INSTANCE;
    } else if (shared == null) {
      throw WireFormatException.slice("flags", "0, without shared memory", 1);
    }
    return shared;
  }

  /// The part of a frame behind the header.
  private static final class Body implements IncomingFrame {
    private final ByteBuf data;
    private final int start;
    /// Its bytes, if they lie together.
    private final @Nullable MemorySegment together;

    Body(ByteBuf data, int start) {
      this.data = data;
      this.start = start;
      this.together = data.nioBufferCount() == 1 ? MemorySegment.ofBuffer(data.nioBuffer(start, bytes())) : null;
    }

    @Override
    public int bytes() {
      return data.writerIndex() - start;
    }

    @Override
    public void read(int offset, MemorySegment to) {
      if (together == null) {
        data.getBytes(start + offset, to.asByteBuffer());
      } else {
        MemorySegment.copy(together, offset, to, 0, to.byteSize());
      }
    }
  }
}
