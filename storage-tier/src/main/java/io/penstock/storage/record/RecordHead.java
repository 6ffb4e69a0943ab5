package io.penstock.storage.record;

import static io.penstock.storage.record.RecordFormat.INT;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.SpaceId;
import io.penstock.check.Checksum;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The head of a record, decoded from bytes that may be damaged: every offset is checked before it is read.
public final class RecordHead {
  private final RecordKind kind;
  private final int bytes;
  private final int segment;
  private final long sequence;
  private final BlockKey key;
  private final List<RecordName> removals;
  private final int payloadBytes;
  private final int[] planeBytes;
  private final int[] checksums;
  private final int crc;

  private RecordHead(MemorySegment head) {
    this.bytes = (int) head.byteSize();
    this.kind = head.get(RecordFormat.SHORT, RecordFormat.KIND_AT) == RecordKind.BLOCK.code()
        ? RecordKind.BLOCK
        : RecordKind.REMOVAL;
    this.segment = head.get(INT, RecordFormat.SEGMENT_AT);
    this.sequence = head.get(RecordFormat.LONG, RecordFormat.SEQUENCE_AT);
    this.key = key(head);
    this.removals = removals(head, key.space());
    this.payloadBytes = head.get(INT, RecordFormat.PAYLOAD_BYTES_AT);
    int planes = head.get(INT, RecordFormat.PLANES_AT);
    this.planeBytes = ints(head, RecordFormat.PLANE_BYTES_AT, planes);
    this.checksums =
        ints(head, RecordFormat.PLANE_BYTES_AT + 4L * planes, head.get(INT, RecordFormat.LAYERS_AT) * planes);
    this.crc = crc(head);
  }

  private static List<RecordName> removals(MemorySegment head, SpaceId space) {
    int count = head.get(INT, RecordFormat.REMOVALS_AT);
    List<RecordName> names = new ArrayList<>(count);
    for (long at = RecordFormat.NAMES_AT; names.size() < count; at += RecordFormat.NAME_BYTES) {
      BlockHash hash = BlockHash.read(head.asSlice(at + Long.BYTES, BlockHash.BYTES).asByteBuffer());
      names.add(new RecordName(new BlockKey(space, hash), head.get(RecordFormat.LONG, at)));
    }
    return List.copyOf(names);
  }

  private static int[] ints(MemorySegment from, long offset, int count) {
    int[] values = new int[count];
    MemorySegment.copy(from, INT, offset, values, 0, count);
    return values;
  }

  /// Length of the head that `start` begins; 0 if no head begins here. More than `start` has means that the rest must
  /// be read, too.
  ///
  /// @param start the first bytes of a record, as many as there are or at least 80
  /// @param recordBytes length of the whole record
  public static int bytes(MemorySegment start, int recordBytes) {
    if (recordBytes < RecordFormat.SHORTEST_RECORD || recordBytes % 8 != 0
        || start.byteSize() < RecordFormat.SHORTEST_HEAD
        || start.get(RecordFormat.LONG, RecordFormat.MAGIC_AT) != RecordFormat.MAGIC) {
      return 0;
    }
    int bytes = start.get(INT, RecordFormat.HEAD_BYTES_AT);
    boolean fits =
        bytes >= RecordFormat.SHORTEST_HEAD && bytes <= recordBytes - RecordFormat.MARK_BYTES && bytes % 8 == 0;
    return fits ? bytes : 0;
  }

  /// Length of the record if `start` begins with a head; 0 if it cannot. Proves nothing: [#decode] does.
  ///
  /// @param start the first bytes of a record, at least 88
  public static int claimedBytes(MemorySegment start) {
    long head = start.get(INT, RecordFormat.HEAD_BYTES_AT);
    long payload = start.get(INT, RecordFormat.PAYLOAD_BYTES_AT);
    long whole = head + RecordFormat.padded(payload) + RecordFormat.MARK_BYTES;
    boolean possible =
        start.get(RecordFormat.LONG, RecordFormat.MAGIC_AT) == RecordFormat.MAGIC && head >= RecordFormat.SHORTEST_HEAD
            && head <= RecordFormat.LONGEST_HEAD && payload >= 0 && whole <= Integer.MAX_VALUE;
    return possible ? (int) whole : 0;
  }

  /// Reads a head.
  ///
  /// @param start the first bytes of a record, its whole head among them
  /// @param recordBytes length of the whole record
  /// @return null if a byte is damaged, or a field has a value that it cannot have
  /// @throws RecordVersionException if the head is whole, and of another version
  public static @Nullable RecordHead decode(MemorySegment start, int recordBytes) {
    return decode(start, recordBytes, null);
  }

  /// Decodes a head whose own CRC may be damaged: the commit mark repeats that CRC, and stands in for it.
  ///
  /// @param mark the last 8 bytes of the record; null if they are unknown
  public static @Nullable RecordHead decode(MemorySegment start, int recordBytes, @Nullable MemorySegment mark) {
    int bytes = bytes(start, recordBytes);
    if (bytes == 0 || bytes > start.byteSize()) {
      return null;
    }
    MemorySegment head = start.asSlice(0, bytes);
    int crc = crc(head);
    if (head.get(INT, bytes - RecordFormat.CRC_BYTES) != crc && (mark == null || !isMark(mark, crc))) {
      return null;
    }
    int version = Short.toUnsignedInt(head.get(RecordFormat.SHORT, RecordFormat.VERSION_AT));
    if (version != RecordFormat.VERSION) {
      throw new RecordVersionException(version);
    }
    return isPossible(head, recordBytes) ? new RecordHead(head) : null;
  }

  private static boolean isPossible(MemorySegment head, int recordBytes) {
    if (head.get(RecordFormat.LONG, RecordFormat.SEQUENCE_AT) <= 0 || head.get(INT, RecordFormat.SEGMENT_AT) <= 0) {
      return false;
    }
    int kind = head.get(RecordFormat.SHORT, RecordFormat.KIND_AT);
    return kind == RecordKind.BLOCK.code()
        ? isBlock(head, recordBytes)
        : kind == RecordKind.REMOVAL.code() && isRemoval(head, recordBytes);
  }

  private static boolean isBlock(MemorySegment head, int recordBytes) {
    int layers = head.get(INT, RecordFormat.LAYERS_AT);
    int planes = head.get(INT, RecordFormat.PLANES_AT);
    long most = (head.byteSize() - RecordFormat.SHORTEST_HEAD) / 4; // bounds both factors before they are multiplied
    if (head.get(INT, RecordFormat.REMOVALS_AT) != 0 || layers <= 0 || layers > most || planes <= 0 || planes > most
        || head.byteSize() != RecordFormat.headBytes(layers, planes)) {
      return false;
    }
    long layerBytes = 0;
    for (int planeBytes : ints(head, RecordFormat.PLANE_BYTES_AT, planes)) {
      if (planeBytes <= 0) {
        return false;
      }
      layerBytes += planeBytes;
    }
    long payload = head.get(INT, RecordFormat.PAYLOAD_BYTES_AT);
    return payload == layers * layerBytes
        && recordBytes == head.byteSize() + RecordFormat.padded(payload) + RecordFormat.MARK_BYTES;
  }

  private static boolean isRemoval(MemorySegment head, int recordBytes) {
    int removals = head.get(INT, RecordFormat.REMOVALS_AT);
    boolean isPossible = removals > 0 && removals <= RecordFormat.MOST_REMOVALS
        && head.byteSize() == RecordFormat.removalHeadBytes(removals)
        && recordBytes == head.byteSize() + RecordFormat.MARK_BYTES && head.get(INT, RecordFormat.LAYERS_AT) == 0
        && head.get(INT, RecordFormat.PLANES_AT) == 0 && head.get(INT, RecordFormat.PAYLOAD_BYTES_AT) == 0;
    long sequence = head.get(RecordFormat.LONG, RecordFormat.SEQUENCE_AT);
    for (int i = 0; isPossible && i < removals; i++) {
      long removed = head.get(RecordFormat.LONG, RecordFormat.NAMES_AT + (long) i * RecordFormat.NAME_BYTES);
      isPossible = removed > 0 && removed < sequence;
    }
    return isPossible;
  }

  /// Whether `mark` is the commit mark of this head.
  public boolean isMarked(MemorySegment mark) {
    return isMark(mark, crc);
  }

  private static boolean isMark(MemorySegment mark, int crc) {
    return mark.get(INT, 0) == crc && mark.get(INT, 4) == ~crc;
  }

  /// Whether the record is of a block of `layout`.
  public boolean isOf(BlockLayout layout) {
    boolean same = checksums.length == layout.granules() && planeBytes.length == layout.planes().size();
    for (int plane = 0; same && plane < planeBytes.length; plane++) {
      same = planeBytes[plane] == layout.planeBytes(plane);
    }
    return same;
  }

  public RecordKind kind() {
    return kind;
  }

  /// Length of the head; the payload follows.
  public int bytes() {
    return bytes;
  }

  /// The segment that the record was written to: a reused file holds records of others, too.
  public int segment() {
    return segment;
  }

  /// Position in the order of writing, from 1. Of two records of a block the higher one is newer.
  public long sequence() {
    return sequence;
  }

  /// The block's key; for a removal only the space is valid.
  public BlockKey key() {
    return key;
  }

  /// The records that a removal names; none for a block.
  public List<RecordName> removals() {
    return removals;
  }

  public int payloadBytes() {
    return payloadBytes;
  }

  /// Number of granules.
  public int granules() {
    return checksums.length;
  }

  /// Bytes of granule `layer × planes + plane`.
  public int granuleBytes(int granule) {
    return planeBytes[granule % planeBytes.length];
  }

  /// CRC32C of a granule.
  public int checksum(int granule) {
    return checksums[granule];
  }

  /// CRC32C of the head itself.
  public int crc() {
    return crc;
  }

  /// CRC32C of the bytes of a head.
  ///
  /// @param head exactly the head of a block's record
  public static int crc(MemorySegment head) {
    return Checksum.of(head.asSlice(0, head.byteSize() - RecordFormat.CRC_BYTES));
  }

  /// The key in a head whose CRC was compared.
  public static BlockKey key(MemorySegment head) {
    return BlockKey.read(head.asSlice(RecordFormat.KEY_AT, BlockKey.BYTES).asByteBuffer());
  }

  /// CRC32C of each granule that `range` touches, from a head of `layout` whose CRC was compared.
  public static int[] checksums(MemorySegment head, BlockLayout layout, GranuleRange range) {
    return ints(head, RecordFormat.PLANE_BYTES_AT + 4L * (layout.planes().size() + range.first()), range.count());
  }
}
