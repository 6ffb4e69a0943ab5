package io.penstock.wire.protocol;

import io.penstock.wire.transfer.SegmentLink;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/// Several parts of segments that are read or written as one run of bytes, one after the other: small ones share a
/// stream, its slices and its end. Packed, a part is three 64-bit integers, big-endian: number of its segment, offset,
/// length.
public final class SegmentParts {
  /// Maximum number of parts of an item.
  public static final int MOST = 256;
  private static final int PART_BYTES = 3 * Long.BYTES;

  private SegmentParts() {}

  static byte[] pack(List<SegmentLink.Range> ranges) {
    ByteBuffer to = ByteBuffer.allocate(ranges.size() * PART_BYTES);
    ranges.forEach(range -> to.putLong(range.number()).putLong(range.offset()).putLong(range.length()));
    return to.array();
  }

  /// @param parts that passed [#require]
  static List<SegmentLink.Range> unpack(byte[] parts, long generation) {
    ByteBuffer from = ByteBuffer.wrap(parts);
    List<SegmentLink.Range> ranges = new ArrayList<>(parts.length / PART_BYTES);
    while (from.hasRemaining()) {
      ranges.add(new SegmentLink.Range(generation, from.getLong(), from.getLong(), from.getLong()));
    }
    return ranges;
  }

  /// Value that slices of several parts have in place of the number of a segment: no segment has a number below 0.
  static long digest(byte[] parts) {
    CRC32C crc = new CRC32C();
    crc.update(parts);
    return -1 - crc.getValue();
  }

  /// @param digest of the parts, as the request states it
  /// @param length of all parts, as the request states it
  /// @throws WireFormatException that names the wrong field
  static void require(byte[] parts, long digest, long length) {
    int count = parts.length / PART_BYTES;
    if (parts.length == 0 || parts.length % PART_BYTES != 0) {
      throw WireFormatException.request("parts", "a multiple of " + PART_BYTES + " bytes", parts.length);
    } else if (count > MOST) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "parts", "<= " + MOST, count);
    } else if (digest != digest(parts)) {
      throw WireFormatException.request("segment", digest(parts) + ", the digest of the parts", digest);
    }
    long sum = 0;
    ByteBuffer from = ByteBuffer.wrap(parts);
    while (from.hasRemaining()) {
      long segment = from.getLong();
      long offset = from.getLong();
      long bytes = from.getLong();
      if (segment < 1 || offset < 0 || bytes < 1 || bytes > length || offset > Long.MAX_VALUE - bytes) {
        throw WireFormatException.request("part", "a segment, an offset and a length",
            segment + ", " + offset + ", " + bytes);
      }
      sum += bytes;
    }
    if (sum != length) {
      throw WireFormatException.request("length", sum + ", that of all parts", length);
    }
  }
}
