package io.penstock.storage.recording;

import io.penstock.check.Checksum;
import io.penstock.recording.EventCodec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordingFormatException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.SegmentWindow;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Events that are written together: a head of 32 bytes, then the events.
///
/// | bytes | field |
/// |---|---|
/// | 0 | mark, 8 bytes |
/// | 8 | version, 2 bytes; 2 bytes of zero |
/// | 12 | CRC32C of all bytes behind it, 4 bytes |
/// | 16 | number of the first event in the recording, 8 bytes |
/// | 24 | number of events, 4 bytes |
/// | 28 | bytes of the events, 4 bytes; the page is filled with zeros to a multiple of 8 |
///
/// All numbers of the head are little-endian, those of the events as [EventCodec] says.
///
/// @param first number of its first event
/// @param end offset behind it in its segment
record Page(long first, List<RecordedEvent> events, long end) {
  static final int HEAD_BYTES = 32;
  static final short VERSION = 1;
  private static final long MARK = 0x3147_4E49_4452_4350L; // "PCRDING1"
  private static final int CRC_AT = 12;
  /// Bytes of a page that a writer makes, at most.
  private static final int MOST_BYTES = 8 << 20;

  /// Writes the head of the page in `buffer`, whose events lie behind the head and end at its position.
  static MemorySegment seal(ByteBuffer buffer, MemorySegment memory, long first, int count) {
    int bytes = buffer.position() - HEAD_BYTES;
    while (buffer.position() % SegmentEngine.RECORD_ALIGNMENT != 0) {
      buffer.put((byte) 0);
    }
    int length = buffer.position();
    buffer.order(ByteOrder.LITTLE_ENDIAN);
    buffer.putLong(0, MARK).putShort(8, VERSION).putShort(10, (short) 0).putLong(16, first).putInt(24, count)
        .putInt(28, bytes);
    buffer.putInt(CRC_AT, Checksum.of(buffer.duplicate().position(CRC_AT + Integer.BYTES).limit(HEAD_BYTES + bytes)));
    buffer.order(ByteOrder.BIG_ENDIAN);
    return memory.asSlice(0, length);
  }

  /// The next whole page of a segment from `at` on; null if none follows.
  static @Nullable Page find(SegmentWindow file, long at) {
    for (long head = file.find(MARK, at, 4); head >= 0; head = file.find(MARK, head + 4, 4)) {
      Page page = read(file, head);
      if (page != null) {
        return page;
      }
    }
    return null;
  }

  private static @Nullable Page read(SegmentWindow file, long at) {
    if (file.size() - at < HEAD_BYTES) {
      return null;
    }
    ByteBuffer head = file.bytes(at, HEAD_BYTES).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    int version = head.getShort(8);
    int crc = head.getInt(CRC_AT);
    long first = head.getLong(16);
    int count = head.getInt(24);
    int bytes = head.getInt(28);
    if (bytes < 0 || bytes > MOST_BYTES || count < 1 || count > bytes || file.size() - at - HEAD_BYTES < bytes
        || file.crc(at + CRC_AT + Integer.BYTES, HEAD_BYTES - CRC_AT - Integer.BYTES + bytes) != crc) {
      return null;
    }
    if (version != VERSION) {
      throw new RecordingFormatException("version of a page", "" + VERSION, version);
    }
    ByteBuffer events = file.bytes(at + HEAD_BYTES, bytes).asByteBuffer();
    List<RecordedEvent> all = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      all.add(EventCodec.read(events));
    }
    return new Page(first, all, at + HEAD_BYTES + bytes + (-bytes & (SegmentEngine.RECORD_ALIGNMENT - 1)));
  }
}
