package io.penstock.wire.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.check.Checksum;
import io.penstock.wire.transfer.SegmentLink;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/// The binary header before the bytes of a slice of a segment, little-endian. Offsets in bytes:
///
/// | offset | length | field |
/// |---|---|---|
/// | 0 | 4 | magic `PKR1` |
/// | 4 | 2 | version, 1 |
/// | 6 | 2 | flags: 0; 1 if a reference follows instead of the bytes |
/// | 8 | 8 | item: the number that the request gave |
/// | 16 | 8 | generation of the node |
/// | 24 | 8 | number of the segment |
/// | 32 | 8 | offset of the bytes in the segment |
/// | 40 | 4 | number of bytes |
/// | 44 | 4 | CRC32C of the bytes |
/// | 48 | 4 | CRC32C of the header before this field |
///
/// Item, generation, segment and offset bind the bytes to what was asked for, whatever happened to the request on its
/// way.
///
/// @param refers whether the bytes are in memory that both sides share
public record SegmentSlice(long item, long generation, long segment, long offset, int length, int crc, boolean refers) {
  static final int MAGIC = 0x31524B50;
  public static final int BYTES = 52;
  private static final int HEADER_CRC_OFFSET = 48;

  /// A header whose bytes follow.
  public SegmentSlice(long item, long generation, long segment, long offset, int length, int crc) {
    this(item, generation, segment, offset, length, crc, false);
  }

  public ByteBuf encode(ByteBufAllocator allocator) {
    return encode(allocator, 0);
  }

  private ByteBuf encode(ByteBufAllocator allocator, int room) {
    ByteBuf to = allocator.directBuffer(BYTES + room, BYTES + room);
    to.writeIntLE(MAGIC).writeShortLE(Routes.VERSION).writeShortLE(refers ? 1 : 0).writeLongLE(item)
        .writeLongLE(generation)
        .writeLongLE(segment).writeLongLE(offset).writeIntLE(length).writeIntLE(crc);
    return to.writeIntLE(Checksum.of(to.nioBuffer(0, HEADER_CRC_OFFSET)));
  }

  /// The header, and the reference behind it.
  public ByteBuf encode(ByteBufAllocator allocator, byte[] reference) {
    return encode(allocator, reference.length).writeBytes(reference);
  }

  /// Reads the header at the start of `data`, which stays the caller's and unmoved.
  ///
  /// @throws WireFormatException naming the first field that breaks its rule
  public static SegmentSlice decode(ByteBuf data) {
    int at = data.readerIndex();
    int came = data.readableBytes();
    require("length", ">= " + BYTES, came >= BYTES, came);
    require("magic", "PKR1", data.getIntLE(at) == MAGIC, data.getIntLE(at));
    require("header CRC32C", "that of the header", data.getIntLE(at + HEADER_CRC_OFFSET) == crc(data, at,
        HEADER_CRC_OFFSET), data.getIntLE(at + HEADER_CRC_OFFSET));
    int version = data.getUnsignedShortLE(at + 4);
    require("version", "" + Routes.VERSION, version == Routes.VERSION, version);
    int flags = data.getUnsignedShortLE(at + 6);
    require("flags", "0 or 1", flags <= 1, flags);
    SegmentSlice slice = new SegmentSlice(data.getLongLE(at + 8), data.getLongLE(at + 16), data.getLongLE(at + 24),
        data.getLongLE(at + 32), data.getIntLE(at + 40), data.getIntLE(at + 44), flags == 1);
    require("bytes after the header", "" + slice.length, slice.refers || came - BYTES == slice.length, came - BYTES);
    return slice;
  }

  /// Verifies the bytes behind the header, where they were received.
  ///
  /// @throws SegmentLink.CorruptException if they are not those that were sent
  public void requireIntact(ByteBuf data) {
    requireIntact(crc(data, data.readerIndex() + BYTES, length));
  }

  /// @param actual checksum of the bytes
  /// @throws SegmentLink.CorruptException if it is another
  public void requireIntact(int actual) {
    if (actual != crc) {
      throw new SegmentLink.CorruptException(offset, crc, actual);
    }
  }

  private static int crc(ByteBuf data, int from, int bytes) {
    CRC32C crc = new CRC32C();
    for (ByteBuffer part : data.nioBuffers(from, bytes)) {
      crc.update(part);
    }
    return (int) crc.getValue();
  }

  public static void require(String field, String rule, boolean holds, Object actual) {
    if (!holds) {
      throw WireFormatException.slice(field, rule, actual);
    }
  }
}
