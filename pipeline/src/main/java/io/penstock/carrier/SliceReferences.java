package io.penstock.carrier;

import io.penstock.block.UnexpectedSliceException;
import io.penstock.carrier.SliceReceiver.IncomingFrame;
import io.penstock.check.Checksum;
import io.penstock.system.SharedRegion;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/// What stands behind the header of a slice whose bytes stay where they are, little-endian:
///
/// | offset | length | field |
/// |---|---|---|
/// | 0 | 4 | CRC32C of all that follows |
/// | 4 | 4 | regions, 1 to 1,024 |
/// | 8 | 24 × regions | of each region: its descriptor in the sender, 4 bytes; 0, 4 bytes; its token, 16 bytes |
/// | … | 12 × blocks | of each block: index of its region, 4 bytes; where its bytes begin in the region, 8 bytes |
///
/// @param descriptors of the regions
/// @param tokens of the regions
/// @param region for each block the index of its region
/// @param offset for each block where its bytes begin
record SliceReferences(int[] descriptors, byte[][] tokens, int[] region, long[] offset) {
  static final int MOST_REGIONS = 1024;
  private static final int COUNT_OFFSET = 4;
  private static final int TABLES_OFFSET = 8;
  private static final int REGION_BYTES = 24;
  private static final int BLOCK_BYTES = 12;

  /// @param region for each block the index of its region
  /// @param offset for each block where its bytes begin in the region
  static byte[] encode(List<SharedRegion> regions, int[] region, long[] offset) {
    ByteBuffer to = buffer(new byte[TABLES_OFFSET + regions.size() * REGION_BYTES + region.length * BLOCK_BYTES]);
    to.putInt(0).putInt(regions.size());
    for (SharedRegion each : regions) {
      to.putInt(each.descriptor()).putInt(0);
      each.putToken(to);
    }
    for (int i = 0; i < region.length; i++) {
      to.putInt(region[i]).putLong(offset[i]);
    }
    return to.putInt(0, crcOf(to)).array();
  }

  /// @throws UnexpectedSliceException if `frame` breaks a rule
  static SliceReferences decode(IncomingFrame frame, int blocks) {
    int bytes = frame.bytes();
    int tables = bytes - TABLES_OFFSET - blocks * BLOCK_BYTES;
    int count = tables / REGION_BYTES;
    if (tables % REGION_BYTES != 0 || count < 1 || count > MOST_REGIONS) {
      throw new UnexpectedSliceException("references", "of 1 to " + MOST_REGIONS + " regions and " + blocks + " blocks",
          bytes + " bytes");
    }
    ByteBuffer from = buffer(new byte[bytes]);
    frame.read(0, MemorySegment.ofBuffer(from));
    if (crcOf(from) != from.getInt(0)) {
      throw new UnexpectedSliceException("CRC32C of references", "%08x".formatted(crcOf(from)),
          "%08x".formatted(from.getInt(0)));
    }
    if (from.getInt(COUNT_OFFSET) != count) {
      throw new UnexpectedSliceException("regions", "" + count, from.getInt(COUNT_OFFSET));
    }
    return read(from.position(TABLES_OFFSET), count, blocks);
  }

  private static SliceReferences read(ByteBuffer from, int count, int blocks) {
    int[] descriptors = new int[count];
    byte[][] tokens = new byte[count][SharedRegion.TOKEN_BYTES];
    for (int i = 0; i < count; i++) {
      descriptors[i] = from.getInt();
      from.getInt();
      from.get(tokens[i]);
    }
    int[] region = new int[blocks];
    long[] offset = new long[blocks];
    for (int i = 0; i < blocks; i++) {
      region[i] = from.getInt();
      offset[i] = from.getLong();
      if (region[i] < 0 || region[i] >= count) {
        throw new UnexpectedSliceException("region of a block", "in [0, " + count + ")", region[i]);
      }
    }
    return new SliceReferences(descriptors, tokens, region, offset);
  }

  private static ByteBuffer buffer(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int crcOf(ByteBuffer references) {
    return Checksum.of(references.duplicate().position(COUNT_OFFSET).limit(references.capacity()));
  }
}
