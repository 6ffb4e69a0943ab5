package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.tier.slice.DraftWindow;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/// Copies the bytes of a slice from a receive buffer into the drafts of its window, the one copy on the way in, and
/// verifies them there.
final class Landing {
  private Landing() {}

  /// @param window has a draft at each position of the slice
  /// @throws io.penstock.block.BlockCorruptException if a granule differs from the checksum that came along
  /// @throws io.penstock.block.UnexpectedSliceException if a part of the range came before
  static void land(ByteBuf data, SliceHeader header, BlockLayout layout, DraftWindow window) {
    land(data, header, layout, window::land);
  }

  /// The same, but bytes that differ end their block alone, see [DraftWindow#landIntact].
  static void landIntact(ByteBuf data, SliceHeader header, BlockLayout layout, DraftWindow window) {
    land(data, header, layout, window::landIntact);
  }

  private interface Part {
    void land(int position, GranuleRange range, int[] checksums, String boundary, Consumer<MemorySegment> writer);
  }

  private static void land(ByteBuf data, SliceHeader header, BlockLayout layout, Part part) {
    int bytes = header.range().bytes(layout);
    for (int i = 0; i < header.positions().length; i++) {
      int from = data.readerIndex() + header.bytes() + i * bytes;
      part.land(header.positions()[i], header.range(), header.checksums()[i], "wire",
          memory -> data.getBytes(from, memory.asByteBuffer()));
    }
  }
}
