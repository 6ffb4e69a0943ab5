package io.penstock.lab.attack;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockLayout;
import io.rsocket.frame.PayloadFrameCodec;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/// The smallest slices that the first window of a put may have, made from the table in `PROTOCOL.md`: each is one row
/// of zeros of the first block.
final class RowSlices {
  private static final int MAGIC = 0x31534B50;
  private static final int HEADER_BYTES = 72 + 2 * Integer.BYTES;
  private static final int HEADER_CRC_OFFSET = 12;
  /// More than the rows of one block, which are all that come.
  private static final int SLICES_OF_WINDOW = 1 << 24;

  private RowSlices() {}

  /// Supplies the payloads of `stream`, one for each row.
  ///
  /// @param hashes of the put, of which the first counts
  static Stream<Supplier<ByteBuf>> frames(int stream, Target target, byte[] hashes) {
    BlockLayout layout = target.layout();
    AtomicInteger left = new AtomicInteger(SLICES_OF_WINDOW);
    return IntStream.range(0, layout.granules()).boxed()
        .flatMap(granule -> IntStream.range(0, layout.rows(granule))
            .mapToObj(row -> () -> frame(stream, target, hashes, granule, row, left.decrementAndGet())));
  }

  private static ByteBuf frame(int stream, Target target, byte[] hashes, int granule, int number, int left) {
    BlockLayout layout = target.layout();
    int planes = layout.planes().size();
    byte[] row = new byte[layout.rowBytes(granule)];
    ByteBuf slice = Unpooled.buffer(HEADER_BYTES + row.length)
        .writeIntLE(MAGIC).writeShortLE(1).writeShortLE(0).writeIntLE(HEADER_BYTES).writeIntLE(0)
        .writeBytes(target.space())
        .writeIntLE(0).writeIntLE(left) // window, and slices of it that follow
        .writeShortLE(granule / planes).writeShortLE(granule % planes).writeIntLE(1) // layer, plane, granules
        .writeIntLE(number).writeIntLE(1) // first row, rows
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
