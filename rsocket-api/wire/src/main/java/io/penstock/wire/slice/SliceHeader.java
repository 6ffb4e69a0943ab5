package io.penstock.wire.slice;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockView;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SpaceId;
import io.penstock.check.Checksum;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFormatException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The binary header before the payload bytes of a slice, little-endian but for the space id. Offsets in bytes:
///
/// | offset | length | field |
/// |---|---|---|
/// | 0 | 4 | magic `PKS1` |
/// | 4 | 2 | version, 1 |
/// | 6 | 2 | flags: 1 if the bytes are elsewhere and references to them follow; 2 for a view; 4 for rows with the |
/// |   |   | checksums of their whole granules |
/// | 8 | 4 | header bytes, tables included |
/// | 12 | 4 | CRC32C of the header with this field 0 |
/// | 16 | 16 | space id |
/// | 32 | 4 | window |
/// | 36 | 4 | slices of this window that follow |
/// | 40 | 2 | first layer |
/// | 42 | 2 | first plane |
/// | 44 | 4 | granules a block, counted plane by plane, then layer by layer |
/// | 48 | 4 | first row; first token of a view |
/// | 52 | 4 | rows: tokens (NHD) or heads (HND); all ones for whole granules; tokens of a view |
/// | 56 | 4 | blocks |
/// | 60 | 4 | generation of the stream, 0 |
/// | 64 | 4 | payload bytes |
/// | 68 | 4 | CRC32C of the hashes of the blocks' keys, in the order of the positions |
/// | 72 | 8 | only of a view: first head, heads |
/// | … | 4 × blocks | positions: index of each block's key in the request |
/// | … | 4 × blocks × granules | CRC32C of each granule, block by block; of exactly the rows if rows are cut without |
/// |   |   | flag 4, of the packed bytes of a view |
///
/// @param place window and slices that follow
/// @param range granules, the same for each block
/// @param view what the slice has of the granules; null for all of them, or for rows
/// @param positions index of each block's key in the request
/// @param checksums for each block one a granule
/// @param keysCrc CRC32C of the hashes of the blocks' keys: binds the bytes to their keys, whatever happened to the
///     request on its way
/// @param bytes length of the header: where the payload, or the references, start
/// @param isReferring whether references follow instead of bytes
/// @param isOfGranules whether the checksums of rows are those of their whole granules
public record SliceHeader(LayerSlice.Position place, GranuleRange range, @Nullable BlockView view, int[] positions,
    int[][] checksums, int keysCrc, int bytes, boolean isReferring, boolean isOfGranules) {
  public static final int MAGIC = 0x31534B50;
  static final int MAGIC_OFFSET = 0;
  static final int VERSION_OFFSET = 4;
  public static final int FLAGS_OFFSET = 6;
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
  public static final int PAYLOAD_BYTES_OFFSET = 64;
  static final int KEYS_CRC_OFFSET = 68;
  public static final int TABLES_OFFSET = 72;
  /// Offset of the heads of a view.
  static final int HEADS_OFFSET = TABLES_OFFSET;
  public static final int VIEW_BYTES = 8;
  private static final int REFERRING = 1;
  private static final int VIEW = 2;
  private static final int OF_GRANULES = 4;

  /// Header bytes beyond which no slice can be valid; keeps a hostile length from costing memory.
  public static final int LARGEST_HEADER_BYTES = 4 << 20;

  /// The header of `slice`, whose bytes follow. The checksums are those the granules were produced with.
  ///
  /// @throws io.penstock.block.BlockCorruptException if rows are cut from a granule that differs from its checksum
  public static ByteBuf encode(LayerSlice slice, SpaceId space, BlockLayout layout, ByteBufAllocator allocator) {
    return encode(slice, false, false, space, layout, allocator, 0);
  }

  /// Encodes the header with room for `bytes` behind it.
  ///
  /// @param ofGranules whether the receiver takes rows with the checksums of their granules, which cost nothing
  static ByteBuf encodeWithRoom(LayerSlice slice, int bytes, boolean ofGranules, SpaceId space, BlockLayout layout,
      ByteBufAllocator allocator) {
    return encode(slice, false, ofGranules, space, layout, allocator, bytes);
  }

  /// Encodes the header of a slice with `references` instead of bytes, which it ends with.
  static ByteBuf encode(LayerSlice slice, byte[] references, boolean ofGranules, SpaceId space, BlockLayout layout,
      ByteBufAllocator allocator) {
    return encode(slice, true, ofGranules, space, layout, allocator, references.length).writeBytes(references);
  }

  private static ByteBuf encode(LayerSlice slice, boolean isReferring, boolean takesOfGranules, SpaceId space,
      BlockLayout layout, ByteBufAllocator allocator, int room) {
    List<LayerSpan> spans = slice.spans();
    boolean ofGranules = takesOfGranules && !slice.range().isWhole()
        && spans.stream().allMatch(LayerSpan::isOfVerifiedGranules);
    int length = TABLES_OFFSET + 4 * spans.size() * (1 + slice.range().count());
    ByteBuf to = allocator.directBuffer(length + room, length + room);
    try {
      writeFields(to, slice, (isReferring ? REFERRING : 0) | (ofGranules ? OF_GRANULES : 0), length, space, layout);
      IntBuffer tables = tables(to, TABLES_OFFSET, length);
      for (int i = 0; i < spans.size(); i++) {
        tables.put(slice.position(i));
      }
      for (LayerSpan span : spans) {
        if (ofGranules) {
          tables.put(span.granuleChecksums());
        } else {
          span.checksums("wire", tables);
        }
      }
      return to.writerIndex(length).setIntLE(HEADER_CRC_OFFSET, Checksum.of(to.nioBuffer(0, length)));
    } catch (RuntimeException | Error e) {
      to.release();
      throw e;
    }
  }

  /// The tables of a header as a whole: an access of a buffer to each number would check its bounds.
  private static IntBuffer tables(ByteBuf data, int from, int to) {
    return data.nioBuffer(from, to - from).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer();
  }

  /// The header of a slice of a view, and behind it the packed bytes, for which it reads the granules of every block.
  ///
  /// @throws io.penstock.block.BlockCorruptException if a granule differs from its checksum
  public static ByteBuf pack(LayerSlice slice, SpaceId space, BlockLayout layout, ByteBufAllocator allocator) {
    BlockView view = slice.requireView();
    int blocks = slice.spans().size();
    int each = view.bytes(layout);
    int length = TABLES_OFFSET + VIEW_BYTES + 4 * blocks * (1 + slice.range().count());
    ByteBuf to = allocator.directBuffer(length + blocks * each, length + blocks * each);
    try {
      writeFields(to, slice, VIEW, length, space, layout);
      to.writeIntLE(view.firstHead()).writeIntLE(view.heads());
      writePositions(to, slice);
      for (int i = 0; i < blocks; i++) {
        MemorySegment packed = MemorySegment.ofBuffer(to.nioBuffer(length + i * each, each));
        for (int crc : slice.pack(i, packed, "wire")) {
          to.writeIntLE(crc);
        }
      }
      to.setIntLE(HEADER_CRC_OFFSET, Checksum.of(to.nioBuffer(0, length)));
      return to.writerIndex(to.capacity());
    } catch (RuntimeException | Error e) {
      to.release();
      throw e;
    }
  }

  private static void writeFields(ByteBuf to, LayerSlice slice, int flags, int length, SpaceId space,
      BlockLayout layout) {
    GranuleRange range = slice.range();
    BlockView view = slice.view();
    int planes = layout.planes().size();
    to.writeIntLE(MAGIC).writeShortLE(Routes.VERSION).writeShortLE(flags).writeIntLE(length).writeIntLE(0)
        .writeLong(space.high()).writeLong(space.low());
    to.writeIntLE(slice.place().window()).writeIntLE(slice.place().remaining());
    to.writeShortLE(range.first() / planes).writeShortLE(range.first() % planes).writeIntLE(range.count());
    to.writeIntLE(view == null ? range.firstRow() : view.firstToken())
        .writeIntLE(view == null ? range.rows() : view.tokens());
    to.writeIntLE(slice.spans().size()).writeIntLE(0).writeIntLE(slice.bytes());
    to.writeIntLE(crcOf(slice.spans().size(), i -> slice.spans().get(i).key()));
  }

  private static void writePositions(ByteBuf to, LayerSlice slice) {
    for (int i = 0; i < slice.spans().size(); i++) {
      to.writeIntLE(slice.position(i));
    }
  }

  /// Reads and checks the header at the start of `data`, which stays the caller's and unmoved. Nothing in it is
  /// believed before the header's own CRC holds, and no memory is taken for a count before it fits the bytes that came.
  ///
  /// @param maxSliceBytes most payload bytes agreed for the stream
  /// @param keys number of keys in the request
  /// @throws WireFormatException naming the first field that breaks its rule
  public static SliceHeader decode(ByteBuf data, SpaceId space, BlockLayout layout, int maxSliceBytes, int keys) {
    return decode(data, data.readableBytes(), space, layout, null, maxSliceBytes, keys);
  }

  /// Decodes the header of a slice of which all bytes may not have come.
  ///
  /// @param length of the slice, header included
  public static SliceHeader decode(ByteBuf head, int length, SpaceId space, BlockLayout layout, int maxSliceBytes,
      int keys) {
    return decode(head, length, space, layout, null, maxSliceBytes, keys);
  }

  /// Decodes a header of a stream whose slices are all of `asked`.
  ///
  /// @param asked null for a stream of whole granules, or rows
  public static SliceHeader decode(ByteBuf data, SpaceId space, BlockLayout layout, @Nullable BlockView asked,
      int maxSliceBytes, int keys) {
    return decode(data, data.readableBytes(), space, layout, asked, maxSliceBytes, keys);
  }

  private static SliceHeader decode(ByteBuf data, int length, SpaceId space, BlockLayout layout,
      @Nullable BlockView asked, int maxSliceBytes, int keys) {
    int start = data.readerIndex();
    require(length >= TABLES_OFFSET, "length", () -> ">= " + TABLES_OFFSET, length);
    requireEqual("magic", MAGIC, data.getIntLE(start + MAGIC_OFFSET));
    int version = data.getUnsignedShortLE(start + VERSION_OFFSET);
    require(version == Routes.VERSION, "version", () -> "" + Routes.VERSION, version);
    int bytes = data.getIntLE(start + HEADER_BYTES_OFFSET);
    require(bytes >= TABLES_OFFSET && bytes <= Math.min(length, LARGEST_HEADER_BYTES), "header bytes",
        () -> "in [" + TABLES_OFFSET + ", " + Math.min(length, LARGEST_HEADER_BYTES) + "]", bytes);
    requireChecksum(data, start, bytes);
    int flags = data.getUnsignedShortLE(start + FLAGS_OFFSET);
    if (asked == null) {
      require((flags & ~(REFERRING | OF_GRANULES)) == 0, "flags",
          () -> "0, " + REFERRING + ", " + OF_GRANULES + " or their sum", flags);
    } else {
      require(flags == VIEW, "flags", () -> VIEW + ", for a view", flags);
    }
    requireSpace(data, start, space);
    int tablesAt = asked == null ? TABLES_OFFSET : TABLES_OFFSET + VIEW_BYTES;
    require(bytes >= tablesAt, "header bytes", () -> ">= " + tablesAt, bytes);
    BlockView view = asked == null ? null : view(data, start, layout, asked);
    GranuleRange range = view == null ? range(data, start, layout) : view.granules();
    boolean isOfGranules = (flags & OF_GRANULES) != 0;
    require(!isOfGranules || !range.isWhole(), "flags", () -> "without " + OF_GRANULES + " of whole granules", flags);
    boolean isReferring = isReferring(data);
    int blocks = data.getIntLE(start + BLOCKS_OFFSET);
    require(blocks > 0 && blocks <= keys, "blocks", () -> "in [1, " + keys + "]", blocks);
    long tables = 4L * blocks * (1 + range.count());
    require(bytes == tablesAt + tables, "header bytes", () -> "" + (tablesAt + tables), bytes);
    require(data.getIntLE(start + GENERATION_OFFSET) == 0, "generation", () -> "0",
        data.getIntLE(start + GENERATION_OFFSET));
    long each = view == null ? range.bytes(layout) : view.bytes(layout);
    requirePayload(data, start, blocks * each, maxSliceBytes);
    if (!isReferring) {
      int came = length - bytes;
      int told = data.getIntLE(start + PAYLOAD_BYTES_OFFSET);
      require(came == told, "bytes after the header", () -> "" + told, came);
    }
    IntBuffer numbers = tables(data, start + tablesAt, start + bytes);
    return new SliceHeader(place(data, start), range, view, positions(numbers, blocks, keys),
        checksums(numbers, blocks, range), data.getIntLE(start + KEYS_CRC_OFFSET), bytes, isReferring, isOfGranules);
  }

  /// Whether the slice that starts `data` has references instead of bytes.
  static boolean isReferring(ByteBuf data) {
    return (data.getUnsignedShortLE(data.readerIndex() + FLAGS_OFFSET) & REFERRING) != 0;
  }

  /// Compares the landed bytes in `draft`, the `i`-th block's, with its checksums.
  ///
  /// @throws io.penstock.block.BlockCorruptException if a granule that is complete now differs
  void compare(int i, BlockDraft draft) {
    if (isOfGranules) {
      draft.verifyWithGranule(range, checksums[i][0], "wire");
    } else {
      draft.verify(range, checksums[i], "wire");
    }
  }

  /// Compares landed bytes whose checksums were computed as they came.
  void compare(int i, BlockDraft draft, BlockDraft.Span span) {
    if (isOfGranules) {
      draft.verifyWithGranule(span, checksums[i][0], "wire");
    } else {
      draft.verify(span, checksums[i], "wire");
    }
  }

  /// Requires that the sender meant these keys: a request whose keys were damaged on the way, or a slice that reached
  /// another stream, must not put the bytes of one key under another.
  ///
  /// @param keys of the request
  /// @throws WireFormatException if the sender's were others
  public void requireKeys(List<BlockKey> keys) {
    requireEqual("keys CRC32C", crcOf(positions.length, i -> keys.get(positions[i])), keysCrc);
  }

  private static int crcOf(int count, IntFunction<BlockKey> keys) {
    ByteBuffer hashes = ByteBuffer.allocate(count * BlockHash.BYTES);
    for (int i = 0; i < count; i++) {
      keys.apply(i).hash().write(hashes);
    }
    return Checksum.of(hashes.flip());
  }

  /// @throws IllegalStateException if it is the header of whole granules, or of rows
  public BlockView requireView() {
    if (view == null) {
      throw new IllegalStateException("header must be of a view (was " + this + ")");
    }
    return view;
  }

  /// True if no slice of the window follows.
  public boolean endsWindow() {
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
    SpaceId named =
        new SpaceId(data.getLong(start + SPACE_OFFSET), data.getLong(start + SPACE_OFFSET + Long.BYTES));
    if (!named.equals(space)) {
      throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "slice space", "" + space, named);
    }
  }

  /// A part of `asked` with all of its heads.
  private static BlockView view(ByteBuf data, int start, BlockLayout layout, BlockView asked) {
    GranuleRange granules = granules(data, start, layout);
    int firstToken = data.getIntLE(start + FIRST_ROW_OFFSET);
    int tokens = data.getIntLE(start + ROWS_OFFSET);
    int firstHead = data.getIntLE(start + HEADS_OFFSET);
    int heads = data.getIntLE(start + HEADS_OFFSET + 4);
    require(asked.granules().contains(granules), "granules", () -> "of " + asked, granules.first());
    require(firstHead == asked.firstHead(), "first head", () -> "" + asked.firstHead(), firstHead);
    require(heads == asked.heads(), "heads", () -> "" + asked.heads(), heads);
    int end = asked.firstToken() + asked.tokens();
    require(firstToken >= asked.firstToken() && firstToken < end, "first token",
        () -> "in [" + asked.firstToken() + ", " + end + ")", firstToken);
    require(tokens > 0 && tokens <= end - firstToken, "tokens", () -> "in [1, " + (end - firstToken) + "]", tokens);
    return new BlockView(granules, firstHead, heads, firstToken, tokens);
  }

  private static GranuleRange granules(ByteBuf data, int start, BlockLayout layout) {
    int layer = data.getUnsignedShortLE(start + FIRST_LAYER_OFFSET);
    int plane = data.getUnsignedShortLE(start + FIRST_PLANE_OFFSET);
    int granules = data.getIntLE(start + GRANULES_OFFSET);
    require(layer < layout.layers(), "first layer", () -> "< " + layout.layers(), layer);
    require(plane < layout.planes().size(), "first plane", () -> "< " + layout.planes().size(), plane);
    int first = layout.granule(layer, plane);
    require(granules > 0 && granules <= layout.granules() - first, "granules",
        () -> "in [1, " + (layout.granules() - first) + "]", granules);
    return GranuleRange.whole(first, granules);
  }

  private static GranuleRange range(ByteBuf data, int start, BlockLayout layout) {
    GranuleRange whole = granules(data, start, layout);
    int first = whole.first();
    int firstRow = data.getIntLE(start + FIRST_ROW_OFFSET);
    int rows = data.getIntLE(start + ROWS_OFFSET);
    if (rows == GranuleRange.WHOLE) {
      require(firstRow == 0, "first row", () -> "0 for whole granules", firstRow);
      return whole;
    }
    require(whole.count() == 1, "granules", () -> "1 when rows are cut", whole.count());
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

  private static int[] positions(IntBuffer from, int blocks, int keys) {
    int[] positions = new int[blocks];
    from.get(positions);
    BitSet seen = new BitSet();
    for (int i = 0; i < blocks; i++) {
      require(positions[i] >= 0 && positions[i] < keys, "position", () -> "in [0, " + keys + ")", positions[i]);
      require(!seen.get(positions[i]), "position", () -> "named once", positions[i]);
      seen.set(positions[i]);
    }
    return positions;
  }

  private static int[][] checksums(IntBuffer from, int blocks, GranuleRange range) {
    int[][] checksums = new int[blocks][];
    for (int i = 0; i < blocks; i++) {
      checksums[i] = new int[range.count()];
      from.get(checksums[i]);
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
