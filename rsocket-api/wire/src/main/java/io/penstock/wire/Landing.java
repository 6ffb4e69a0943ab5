package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockLayout;
import io.penstock.tier.slice.DraftWindow;

/// Copies the bytes of a slice from a receive buffer into the drafts of its window, the one copy on the way in, and
/// verifies them there.
final class Landing {
  private Landing() {}

  /// @param window has a draft at each position of the slice
  /// @throws io.penstock.block.BlockCorruptException if a granule differs from the checksum that came along
  /// @throws io.penstock.block.UnexpectedSliceException if a part of the range came before
  static void land(ByteBuf data, SliceHeader header, BlockLayout layout, DraftWindow window) {
    int bytes = header.range().bytes(layout);
    for (int i = 0; i < header.positions().length; i++) {
      int from = data.readerIndex() + header.bytes() + i * bytes;
      window.land(header.positions()[i], header.range(), header.checksums()[i], "wire",
          memory -> data.getBytes(from, memory.asByteBuffer()));
    }
  }
}
