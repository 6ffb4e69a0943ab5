package io.penstock.node.attack;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockLayout;
import io.rsocket.frame.PayloadFrameCodec;
import java.util.zip.CRC32C;

/// The smallest slice that a put may begin with, made from the table in `PROTOCOL.md`: one row of zeros of the first
/// granule of the first block.
final class FirstSlice {
  private static final int MAGIC = 0x31534B50;
  private static final int HEADER_BYTES = 72 + 2 * Integer.BYTES;
  private static final int HEADER_CRC_OFFSET = 12;
  /// Which the window needs, and which never come.
  private static final int SLICES_AFTER = 1000;

  private FirstSlice() {}

  /// As a payload of `stream`.
  ///
  /// @param hashes of the put, of which the first counts
  static ByteBuf frame(int stream, byte[] space, BlockLayout layout, byte[] hashes) {
    byte[] row = new byte[layout.rowBytes(0)];
    ByteBuf slice = Unpooled.buffer(HEADER_BYTES + row.length)
        .writeIntLE(MAGIC).writeShortLE(1).writeShortLE(0).writeIntLE(HEADER_BYTES).writeIntLE(0).writeBytes(space)
        .writeIntLE(0).writeIntLE(SLICES_AFTER) // window, and slices of it that follow
        .writeShortLE(0).writeShortLE(0).writeIntLE(1).writeIntLE(0).writeIntLE(1) // layer, plane, granules, rows
        .writeIntLE(1).writeIntLE(0).writeIntLE(row.length) // blocks, generation, payload
        .writeIntLE(crc(hashes, BlockHash.BYTES)).writeIntLE(0).writeIntLE(crc(row, row.length));
    slice.setIntLE(HEADER_CRC_OFFSET, crc(slice.array(), HEADER_BYTES)).writeBytes(row);
    return PayloadFrameCodec.encode(ByteBufAllocator.DEFAULT, stream, false, false, true, null, slice);
  }

  private static int crc(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }
}
