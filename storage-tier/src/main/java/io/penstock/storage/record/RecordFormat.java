package io.penstock.storage.record;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockLayout;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/// Offsets and sizes of a record: head, payload, padding, commit mark. Numbers are little-endian; keys have their own
/// encoding.
public final class RecordFormat {
  /// The only version that is written and read.
  public static final int VERSION = 2;

  /// The commit mark: the CRC of the head, and its complement.
  public static final int MARK_BYTES = 8;

  static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /// The first bytes of every record.
  public static final long MAGIC = magic("PNSTKREC");

  static final int MAGIC_AT = 0;
  static final int VERSION_AT = 8;
  static final int KIND_AT = 10;
  static final int HEAD_BYTES_AT = 12;
  static final int SEQUENCE_AT = 16;
  static final int KEY_AT = 24;
  static final int REMOVALS_AT = 56;
  static final int SEGMENT_AT = 60;
  static final int PAYLOAD_BYTES_AT = 64;
  static final int LAYERS_AT = 68;
  static final int PLANES_AT = 72;
  static final int PLANE_BYTES_AT = 76;
  static final int CRC_BYTES = 4;

  /// Offset of the list of records that a removal removes.
  static final int NAMES_AT = PLANE_BYTES_AT;

  /// Bytes of a removed record's name: its sequence, the hash of its key.
  static final int NAME_BYTES = 8 + BlockHash.BYTES;

  /// Maximum number of records that a removal names: it fits every segment.
  public static final int MOST_REMOVALS = 4096;

  /// The shortest head: that of a removal without its list.
  static final int SHORTEST_HEAD = PLANE_BYTES_AT + CRC_BYTES;

  /// The longest head. Behind damage a walk compares the CRC of bytes that look like a head, so its length is bounded.
  public static final int LONGEST_HEAD = 1 << 20;

  /// The shortest record.
  public static final int SHORTEST_RECORD = SHORTEST_HEAD + MARK_BYTES;

  private RecordFormat() {}

  private static long magic(String word) {
    byte[] text = word.getBytes(StandardCharsets.US_ASCII);
    long magic = 0;
    for (int i = text.length - 1; i >= 0; i--) {
      magic = magic << 8 | text[i];
    }
    return magic;
  }

  /// Bytes of the head of a block's record.
  public static int headBytes(BlockLayout layout) {
    return (int) headBytes(layout.layers(), layout.planes().size());
  }

  /// Bytes of the record of a block.
  public static int recordBytes(BlockLayout layout) {
    return headBytes(layout) + (int) padded(layout.blockBytes()) + MARK_BYTES;
  }

  /// Bytes of a record that removes `count` others.
  public static int removalBytes(int count) {
    return removalHeadBytes(count) + MARK_BYTES;
  }

  static int removalHeadBytes(int count) {
    return NAMES_AT + count * NAME_BYTES + CRC_BYTES;
  }

  static long headBytes(long layers, long planes) {
    return padded(PLANE_BYTES_AT + 4 * planes + 4 * layers * planes + CRC_BYTES);
  }

  /// The next multiple of 8.
  static long padded(long bytes) {
    return (bytes + 7) & -8;
  }
}
