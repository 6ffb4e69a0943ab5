package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SpaceId;
import io.penstock.check.Checksum;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.zip.CRC32C;

/// The binary header before the payload bytes of a slice, little-endian but for the space id. Offsets in bytes:
///
/// | offset | length | field |
/// |---|---|---|
/// | 0 | 4 | magic `PKS1` |
/// | 4 | 2 | version, 1 |
/// | 6 | 2 | flags: 0, or 1 if the bytes are elsewhere and references to them follow |
/// | 8 | 4 | header bytes, tables included |
/// | 12 | 4 | CRC32C of the header with this field 0 |
/// | 16 | 16 | space id |
/// | 32 | 4 | window |
/// | 36 | 4 | slices of this window that follow |
/// | 40 | 2 | first layer |
/// | 42 | 2 | first plane |
/// | 44 | 4 | granules a block, counted plane by plane, then layer by layer |
/// | 48 | 4 | first row |
/// | 52 | 4 | rows: tokens (NHD) or heads (HND); all ones for whole granules |
/// | 56 | 4 | blocks |
/// | 60 | 4 | generation of the stream, 0 |
/// | 64 | 4 | payload bytes |
/// | 68 | 4 | CRC32C of the hashes of the blocks' keys, in the order of the positions |
/// | 72 | 4 × blocks | positions: index of each block's key in the request |
/// | … | 4 × blocks × granules | CRC32C of each granule, block by block; of exactly the rows if rows are cut |
///
/// @param place window and slices that follow
/// @param range granules, the same for each block
/// @param positions index of each block's key in the request
/// @param checksums for each block one a granule
/// @param keysCrc CRC32C of the hashes of the blocks' keys: binds the bytes to their keys, whatever happened to the
///     request on its way
/// @param bytes length of the header: where the payload, or the references, start
/// @param isReferring whether references follow instead of bytes
record SliceHeader(LayerSlice.Position place, GranuleRange range, int[] positions, int[][] checksums, int keysCrc,
    int bytes, boolean isReferring) {
  static final int MAGIC = 0x31534B50;
  static final int MAGIC_OFFSET = 0;
  static final int VERSION_OFFSET = 4;
  static final int FLAGS_OFFSET = 6;
  static final int HEADER_BYTES_OFFSET = 8;
  static final int HEADER_CRC_OFFSET = 12;
  static final int SPACE_OFFSET = 16;
  static final int WINDOW_OFFSET = 32;
  static final int REMAINING_OFFSET = 36;
  static final int FIRST_LAYER_OFFSET = 40;
  static final int FIRST_PLANE_OFFSET = 42;
  static final int GRANULES_OFFSET = 44;
  static final int FIRST_ROW_OFFSET = 48;
  static final int ROWS_OFFSET = 52;
  static final int BLOCKS_OFFSET = 56;
  static final int GENERATION_OFFSET = 60;
  static final int PAYLOAD_BYTES_OFFSET = 64;
  static final int KEYS_CRC_OFFSET = 68;
  static final int TABLES_OFFSET = 72;
  private static final int REFERRING = 1;

  /// Header bytes beyond which no slice can be valid; keeps a hostile length from costing memory.
  static final int LARGEST_HEADER_BYTES = 4 << 20;

  /// The header of `slice`, whose bytes follow. The checksums are those the granules were produced with.
  ///
  /// @throws io.penstock.block.BlockCorruptException if rows are cut from a granule that differs from its checksum
  static ByteBuf encode(LayerSlice slice, SpaceId space, BlockLayout layout, ByteBufAllocator allocator) {
    return encode(slice, false, space, layout, allocator, 0);
  }

  /// The same for a slice with `references` instead of bytes, which it ends with.
  static ByteBuf encode(LayerSlice slice, byte[] references, SpaceId space, BlockLayout layout,
      ByteBufAllocator allocator) {
    return encode(slice, true, space, layout, allocator, references.length).writeBytes(references);
  }

  private static ByteBuf encode(LayerSlice slice, boolean isReferring, SpaceId space, BlockLayout layout,
      ByteBufAllocator allocator, int room) {
    GranuleRange range = slice.range();
    List<LayerSpan> spans = slice.spans();
    int planes = layout.planes().size();
    int length = TABLES_OFFSET + 4 * spans.size() * (1 + range.count());
    ByteBuf to = allocator.directBuffer(length + room, length + room);
    try {
      ByteBuffer id = ByteBuffer.allocate(SpaceId.BYTES);
      space.write(id);
      to.writeIntLE(MAGIC).writeShortLE(Routes.VERSION).writeShortLE(isReferring ? REFERRING : 0).writeIntLE(length)
          .writeIntLE(0)
          .writeBytes(id.flip());
      to.writeIntLE(slice.place().window()).writeIntLE(slice.place().remaining());
      to.writeShortLE(range.first() / planes).writeShortLE(range.first() % planes).writeIntLE(range.count());
      to.writeIntLE(range.firstRow()).writeIntLE(range.rows());
      to.writeIntLE(spans.size()).writeIntLE(0).writeIntLE(slice.bytes());
      to.writeIntLE(crcOf(spans.size(), i -> spans.get(i).key()));
      for (int i = 0; i < spans.size(); i++) {
        to.writeIntLE(slice.position(i));
      }
      for (LayerSpan span : spans) {
        for (int crc : span.checksums("wire")) {
          to.writeIntLE(crc);
        }
      }
      return to.setIntLE(HEADER_CRC_OFFSET, Checksum.of(to.nioBuffer(0, length)));
    } catch (RuntimeException e) {
      to.release();
      throw e;
    }
  }

  /// Reads and checks the header at the start of `data`, which stays the caller's and unmoved. Nothing in it is
  /// believed before the header's own CRC holds, and no memory is taken for a count before it fits the bytes that came.
  ///
  /// @param maxSliceBytes most payload bytes agreed for the stream
  /// @param keys number of keys in the request
  /// @throws WireFormatException naming the first field that breaks its rule
  static SliceHeader decode(ByteBuf data, SpaceId space, BlockLayout layout, int maxSliceBytes, int keys) {
    int start = data.readerIndex();
    int length = data.readableBytes();
    require(length >= TABLES_OFFSET, "length", () -> ">= " + TABLES_OFFSET, length);
    requireEqual("magic", MAGIC, data.getIntLE(start + MAGIC_OFFSET));
    int version = data.getUnsignedShortLE(start + VERSION_OFFSET);
    require(version == Routes.VERSION, "version", () -> "" + Routes.VERSION, version);
    int bytes = data.getIntLE(start + HEADER_BYTES_OFFSET);
    require(bytes >= TABLES_OFFSET && bytes <= Math.min(length, LARGEST_HEADER_BYTES), "header bytes",
        () -> "in [" + TABLES_OFFSET + ", " + Math.min(length, LARGEST_HEADER_BYTES) + "]", bytes);
    requireChecksum(data, start, bytes);
    int flags = data.getUnsignedShortLE(start + FLAGS_OFFSET);
    require((flags & ~REFERRING) == 0, "flags", () -> "0 or " + REFERRING, flags);
    requireSpace(data, start, space);
    GranuleRange range = range(data, start, layout);
    int blocks = data.getIntLE(start + BLOCKS_OFFSET);
    require(blocks > 0 && blocks <= keys, "blocks", () -> "in [1, " + keys + "]", blocks);
    long tables = 4L * blocks * (1 + range.count());
    require(bytes == TABLES_OFFSET + tables, "header bytes", () -> "" + (TABLES_OFFSET + tables), bytes);
    require(data.getIntLE(start + GENERATION_OFFSET) == 0, "generation", () -> "0",
        data.getIntLE(start + GENERATION_OFFSET));
    requirePayload(data, start, (long) blocks * range.bytes(layout), maxSliceBytes);
    if (flags == 0) {
      int came = length - bytes;
      int told = data.getIntLE(start + PAYLOAD_BYTES_OFFSET);
      require(came == told, "bytes after the header", () -> "" + told, came);
    }
    return new SliceHeader(place(data, start), range, positions(data, start, blocks, keys),
        checksums(data, start, blocks, range),
        data.getIntLE(start + KEYS_CRC_OFFSET), bytes, flags == REFERRING);
  }

  /// The sender must have meant the same keys: a request whose keys were damaged on the way, or a slice that reached
  /// another stream, must not put the bytes of one key under another.
  ///
  /// @param keys of the request
  /// @throws WireFormatException if the sender's were others
  void requireKeys(List<BlockKey> keys) {
    requireEqual("keys CRC32C", crcOf(positions.length, i -> keys.get(positions[i])), keysCrc);
  }

  private static int crcOf(int count, IntFunction<BlockKey> keys) {
    ByteBuffer hashes = ByteBuffer.allocate(count * BlockHash.BYTES);
    for (int i = 0; i < count; i++) {
      keys.apply(i).hash().write(hashes);
    }
    return Checksum.of(hashes.flip());
  }

  /// One past the last slice's place: none follows.
  boolean endsWindow() {
    return place.remaining() == 0;
  }

  private static void requireChecksum(ByteBuf data, int start, int bytes) {
    int told = data.getIntLE(start + HEADER_CRC_OFFSET);
    CRC32C crc = new CRC32C();
    update(crc, data, start, HEADER_CRC_OFFSET);
    crc.update(new byte[4]);
    update(crc, data, start + HEADER_CRC_OFFSET + 4, bytes - HEADER_CRC_OFFSET - 4);
    requireEqual("header CRC32C", (int) crc.getValue(), told);
  }

  private static void update(CRC32C crc, ByteBuf data, int from, int bytes) {
    for (ByteBuffer part : data.nioBuffers(from, bytes)) {
      crc.update(part);
    }
  }

  private static void requireSpace(ByteBuf data, int start, SpaceId space) {
    byte[] id = new byte[SpaceId.BYTES];
    data.getBytes(start + SPACE_OFFSET, id);
    SpaceId named = SpaceId.read(ByteBuffer.wrap(id));
    if (!named.equals(space)) {
      throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "slice space", "" + space, named);
    }
  }

  private static GranuleRange range(ByteBuf data, int start, BlockLayout layout) {
    int layer = data.getUnsignedShortLE(start + FIRST_LAYER_OFFSET);
    int plane = data.getUnsignedShortLE(start + FIRST_PLANE_OFFSET);
    int granules = data.getIntLE(start + GRANULES_OFFSET);
    int firstRow = data.getIntLE(start + FIRST_ROW_OFFSET);
    int rows = data.getIntLE(start + ROWS_OFFSET);
    require(layer < layout.layers(), "first layer", () -> "< " + layout.layers(), layer);
    require(plane < layout.planes().size(), "first plane", () -> "< " + layout.planes().size(), plane);
    int first = layout.granule(layer, plane);
    require(granules > 0 && granules <= layout.granules() - first, "granules",
        () -> "in [1, " + (layout.granules() - first) + "]", granules);
    if (rows == GranuleRange.WHOLE) {
      require(firstRow == 0, "first row", () -> "0 for whole granules", firstRow);
      return GranuleRange.whole(first, granules);
    }
    require(granules == 1, "granules", () -> "1 when rows are cut", granules);
    int all = layout.rows(first);
    require(firstRow >= 0 && firstRow < all, "first row", () -> "in [0, " + all + ")", firstRow);
    require(rows > 0 && rows <= all - firstRow, "rows", () -> "in [1, " + (all - firstRow) + "]", rows);
    return GranuleRange.rows(first, firstRow, rows);
  }

  private static void requirePayload(ByteBuf data, int start, long needed, int maxSliceBytes) {
    int told = data.getIntLE(start + PAYLOAD_BYTES_OFFSET);
    require(told == needed, "payload bytes", () -> "" + needed, told);
    require(told <= maxSliceBytes, "payload bytes", () -> "<= " + maxSliceBytes, told);
  }

  private static LayerSlice.Position place(ByteBuf data, int start) {
    int window = data.getIntLE(start + WINDOW_OFFSET);
    int remaining = data.getIntLE(start + REMAINING_OFFSET);
    require(window >= 0, "window", () -> ">= 0", window);
    require(remaining >= 0, "remaining", () -> ">= 0", remaining);
    return new LayerSlice.Position(window, remaining);
  }

  private static int[] positions(ByteBuf data, int start, int blocks, int keys) {
    int[] positions = new int[blocks];
    BitSet seen = new BitSet();
    for (int i = 0; i < blocks; i++) {
      positions[i] = data.getIntLE(start + TABLES_OFFSET + 4 * i);
      require(positions[i] >= 0 && positions[i] < keys, "position", () -> "in [0, " + keys + ")", positions[i]);
      require(!seen.get(positions[i]), "position", () -> "named once", positions[i]);
      seen.set(positions[i]);
    }
    return positions;
  }

  private static int[][] checksums(ByteBuf data, int start, int blocks, GranuleRange range) {
    int at = start + TABLES_OFFSET + 4 * blocks;
    int[][] checksums = new int[blocks][range.count()];
    for (int[] block : checksums) {
      for (int g = 0; g < block.length; g++, at += 4) {
        block[g] = data.getIntLE(at);
      }
    }
    return checksums;
  }

  private static void requireEqual(String field, int expected, int value) {
    if (value != expected) {
      throw WireFormatException.slice(field, hex(expected), hex(value));
    }
  }

  /// @param rule put into words only when it is broken: this runs for every slice
  private static void require(boolean holds, String field, Supplier<String> rule, int value) {
    if (!holds) {
      throw WireFormatException.slice(field, rule.get(), value);
    }
  }

  private static String hex(int value) {
    return "0x%08x".formatted(value);
  }
}
