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

/// What the head of a record says, decoded from bytes that may be damaged: every offset is checked before it
/// is read.
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

  /// `head` was checked.
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

  /// Length of the head that `start` begins; more than `start` has means that the rest must be read too.
  ///
  /// @param start the first bytes of a record, as many as there are or at least 80
  /// @param recordBytes length of the whole record
  /// @throws RecordMalformedException if no head begins here
  public static int bytes(MemorySegment start, int recordBytes) {
    if (recordBytes < RecordFormat.SHORTEST_RECORD || recordBytes % 8 != 0) {
      throw new RecordMalformedException("length", "a multiple of 8 >= " + RecordFormat.SHORTEST_RECORD, recordBytes);
    }
    if (start.byteSize() < RecordFormat.SHORTEST_HEAD) {
      throw new RecordMalformedException("start", ">= " + RecordFormat.SHORTEST_HEAD + " bytes", start.byteSize());
    }
    long magic = start.get(RecordFormat.LONG, RecordFormat.MAGIC_AT);
    if (magic != RecordFormat.MAGIC) {
      throw new RecordMalformedException("magic", "%016x".formatted(RecordFormat.MAGIC), "%016x".formatted(magic));
    }
    int bytes = start.get(INT, RecordFormat.HEAD_BYTES_AT);
    int most = recordBytes - RecordFormat.MARK_BYTES;
    if (bytes < RecordFormat.SHORTEST_HEAD || bytes > most || bytes % 8 != 0) {
      throw new RecordMalformedException("headBytes",
          "a multiple of 8 in [" + RecordFormat.SHORTEST_HEAD + ", " + most + "]", bytes);
    }
    return bytes;
  }

  /// Length that the record has if what `start` begins with is its head; 0 if it cannot be. Proves nothing: [#decode]
  /// does.
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
  /// @throws RecordMalformedException if a field has a value that it cannot have
  /// @throws RecordVersionException if the head is whole, and of another version
  public static RecordHead decode(MemorySegment start, int recordBytes) {
    MemorySegment head = head(start, recordBytes);
    requireCrc(head);
    return checked(head, recordBytes);
  }

  /// The same of a head whose own CRC is damaged, but which the commit mark of its record confirms: the mark repeats
  /// that CRC.
  ///
  /// @param mark the last 8 bytes of the record
  public static RecordHead decode(MemorySegment start, int recordBytes, MemorySegment mark) {
    MemorySegment head = head(start, recordBytes);
    int actual = crc(head);
    if (mark.get(INT, 0) != actual || mark.get(INT, 4) != ~actual) {
      requireCrc(head);
    }
    return checked(head, recordBytes);
  }

  private static MemorySegment head(MemorySegment start, int recordBytes) {
    int bytes = bytes(start, recordBytes);
    if (bytes > start.byteSize()) {
      throw new RecordMalformedException("headBytes", "<= " + start.byteSize() + " that were read", bytes);
    }
    return start.asSlice(0, bytes);
  }

  private static RecordHead checked(MemorySegment head, int recordBytes) {
    int version = Short.toUnsignedInt(head.get(RecordFormat.SHORT, RecordFormat.VERSION_AT));
    if (version != RecordFormat.VERSION) {
      throw new RecordVersionException(version);
    }
    requireShape(head, recordBytes);
    return new RecordHead(head);
  }

  private static void requireCrc(MemorySegment head) {
    long covered = head.byteSize() - RecordFormat.CRC_BYTES;
    int stated = head.get(INT, covered);
    int actual = Checksum.of(head.asSlice(0, covered));
    if (stated != actual) {
      throw new RecordMalformedException("headCrc", "%08x".formatted(actual), "%08x".formatted(stated));
    }
  }

  private static void requireShape(MemorySegment head, int recordBytes) {
    int kind = head.get(RecordFormat.SHORT, RecordFormat.KIND_AT);
    int layers = head.get(INT, RecordFormat.LAYERS_AT);
    int planes = head.get(INT, RecordFormat.PLANES_AT);
    long payload = head.get(INT, RecordFormat.PAYLOAD_BYTES_AT);
    boolean block = kind == RecordKind.BLOCK.code();
    require("kind", block || kind == RecordKind.REMOVAL.code(), "1 or 2", kind);
    require("layers", block ? layers > 0 : layers == 0, block ? "> 0" : "0", layers);
    require("planes", block ? planes > 0 : planes == 0, block ? "> 0" : "0", planes);
    require("payloadBytes", block ? payload > 0 : payload == 0, block ? "> 0" : "0", payload);
    long sequence = head.get(RecordFormat.LONG, RecordFormat.SEQUENCE_AT);
    require("sequence", sequence > 0, "> 0", sequence);
    int segment = head.get(INT, RecordFormat.SEGMENT_AT);
    require("segment", segment > 0, "> 0", segment);
    requireRemovals(head, block, sequence);
    if (!block) {
      requireSame("length", head.byteSize() + RecordFormat.MARK_BYTES, recordBytes);
      return;
    }
    // Words: bounds both factors before they are multiplied
    long fits = (head.byteSize() - RecordFormat.SHORTEST_HEAD) / 4;
    requireAtMost("planes", fits, planes);
    requireAtMost("layers", fits, layers);
    long bytes = RecordFormat.headBytes(layers, planes);
    requireSame("headBytes", bytes, head.byteSize());
    requirePayload(head, layers, planes, payload);
    long whole = bytes + RecordFormat.padded(payload) + RecordFormat.MARK_BYTES;
    requireSame("length", whole, recordBytes);
  }

  private static void requireRemovals(MemorySegment head, boolean block, long sequence) {
    int removals = head.get(INT, RecordFormat.REMOVALS_AT);
    if (block) {
      requireSame("removals", 0, removals);
      return;
    }
    if (removals <= 0 || removals > RecordFormat.MOST_REMOVALS) {
      throw new RecordMalformedException("removals", "in [1, " + RecordFormat.MOST_REMOVALS + "]", removals);
    }
    long bytes = RecordFormat.removalHeadBytes(removals);
    requireSame("headBytes", bytes, head.byteSize());
    for (int i = 0; i < removals; i++) {
      long removed = head.get(RecordFormat.LONG, RecordFormat.NAMES_AT + (long) i * RecordFormat.NAME_BYTES);
      if (removed <= 0 || removed >= sequence) {
        throw new RecordMalformedException("removal " + i, "in (0, " + sequence + ")", removed);
      }
    }
  }

  private static void requirePayload(MemorySegment head, int layers, int planes, long payload) {
    long layerBytes = 0;
    for (int plane = 0; plane < planes; plane++) {
      int bytes = head.get(INT, RecordFormat.PLANE_BYTES_AT + 4L * plane);
      if (bytes <= 0) {
        throw new RecordMalformedException("planeBytes " + plane, "> 0", bytes);
      }
      layerBytes += bytes;
    }
    requireSame("payloadBytes", layers * layerBytes, payload);
  }

  private static void require(String field, boolean kept, String rule, long value) {
    if (!kept) {
      throw new RecordMalformedException(field, rule, value);
    }
  }

  private static void requireSame(String field, long rule, long value) {
    if (value != rule) {
      throw new RecordMalformedException(field, Long.toString(rule), value);
    }
  }

  private static void requireAtMost(String field, long most, long value) {
    if (value > most) {
      throw new RecordMalformedException(field, "<= " + most, value);
    }
  }

  /// Compares the commit mark, the last 8 bytes of the record.
  ///
  /// @throws RecordTornException if it is not the one of this head
  public void requireMark(MemorySegment mark) {
    if (!isMarked(mark)) {
      throw new RecordTornException("commit mark", "%08x %08x".formatted(crc, ~crc),
          "%08x %08x".formatted(mark.get(INT, 0), mark.get(INT, 4)));
    }
  }

  /// Whether `mark` is the commit mark of this head.
  public boolean isMarked(MemorySegment mark) {
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

  /// Length of the head: the payload begins behind it.
  public int bytes() {
    return bytes;
  }

  /// Number of the segment that the record was written to: a file that is written anew holds records of others.
  public int segment() {
    return segment;
  }

  /// Position in the order of writing, from 1: of two records of a block the higher one is newer.
  public long sequence() {
    return sequence;
  }

  /// The block's key; of a removal only the space counts.
  public BlockKey key() {
    return key;
  }

  /// The records that a removal removes; none for a block.
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

  /// CRC32C of a head that was read again, as [#crc] was when it was written.
  ///
  /// @param head exactly the head of a block's record
  public static int crc(MemorySegment head) {
    return Checksum.of(head.asSlice(0, head.byteSize() - RecordFormat.CRC_BYTES));
  }

  /// The key in the head of a record whose own CRC was compared.
  public static BlockKey key(MemorySegment head) {
    return BlockKey.read(head.asSlice(RecordFormat.KEY_AT, BlockKey.BYTES).asByteBuffer());
  }

  /// CRC32C of each granule that `range` touches, from the head of a record of `layout` whose own CRC was compared.
  public static int[] checksums(MemorySegment head, BlockLayout layout, GranuleRange range) {
    return ints(head, RecordFormat.PLANE_BYTES_AT + 4L * (layout.planes().size() + range.first()), range.count());
  }
}
