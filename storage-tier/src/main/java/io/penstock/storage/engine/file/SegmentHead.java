package io.penstock.storage.engine.file;

import io.penstock.check.Checksum;
import io.penstock.storage.engine.EngineFailure.SegmentUnreadableException;
import io.penstock.storage.engine.SegmentWindow;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// The 64 bytes that name the segment of a file, little-endian: magic, version, number, CRC. `FORMAT.md` describes
/// them.
final class SegmentHead {
  static final int BYTES = 64;

  private static final int VERSION = 2;
  private static final long MAGIC = 0x4745534B54534E50L; // PNSTKSEG
  private static final int NUMBER_AT = 12;
  private static final int CRC_AT = BYTES - Integer.BYTES;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private SegmentHead() {}

  static ByteBuffer of(int number) {
    return put(ByteBuffer.allocateDirect(BYTES), 0, number);
  }

  /// Writes the head of segment `number` into `buffer` at `at`.
  static ByteBuffer put(ByteBuffer buffer, int at, int number) {
    MemorySegment head = MemorySegment.ofBuffer(buffer).asSlice(at, BYTES);
    head.set(LONG, 0, MAGIC);
    head.set(INT, Long.BYTES, VERSION);
    head.set(INT, NUMBER_AT, number);
    head.set(INT, CRC_AT, Checksum.of(head.asSlice(0, CRC_AT)));
    return buffer;
  }

  /// The segment in the head at `at`; 0 if there is no whole head.
  private static int number(SegmentWindow file, long at) {
    if (file.size() - at < BYTES) {
      return 0;
    }
    MemorySegment head = file.bytes(at, BYTES);
    boolean isWhole = head.get(LONG, 0) == MAGIC && head.get(INT, Long.BYTES) == VERSION
        && head.get(INT, CRC_AT) == Checksum.of(head.asSlice(0, CRC_AT));
    return isWhole ? head.get(INT, NUMBER_AT) : 0;
  }

  /// Number of the segment; 0 also if the medium does not give the head.
  static int numberIfReadable(SegmentWindow file, long at) {
    try {
      return number(file, at);
    } catch (SegmentUnreadableException e) {
      return 0; // the walk will find out
    }
  }

  /// Sets the start of records in `file` behind its head.
  static SegmentWindow window(SegmentWindow file) {
    return file.holds(numberIfReadable(file, 0), Math.min(BYTES, file.size()), 0);
  }
}
