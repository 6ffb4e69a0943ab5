package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockDraft;

/// Copies the bytes of one block of a slice from a receive buffer into its draft, the one copy on the way in, and verifies them there.
final class Landing {
  private Landing() {}

  /// @param index which block of the slice
  /// @throws io.penstock.block.BlockCorruptException if a granule differs from the checksum that came along; nothing is stated then
  static void land(ByteBuf data, SliceHeader header, int index, BlockDraft draft) {
    int bytes = header.range().bytes(draft.layout());
    int from = data.readerIndex() + header.bytes() + index * bytes;
    draft.write(header.range(), memory -> data.getBytes(from, memory.asByteBuffer()));
    draft.verify(header.range(), header.checksums()[index], "wire");
  }
}
