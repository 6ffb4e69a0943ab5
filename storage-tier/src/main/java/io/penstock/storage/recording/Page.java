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
/// @param payloads of blocks, in the page
record Page(long first, List<RecordedEvent> events, long end, List<Payload> payloads) {
  static final int HEAD_BYTES = 32;
  /// A page is filled with zeros to a multiple of it.
  static final int ALIGNMENT = SegmentEngine.RECORD_ALIGNMENT;
  static final short VERSION = 1;
  private static final long MARK = 0x3147_4E49_4452_4350L; // "PCRDING1"
  private static final int CRC_AT = 12;
  /// Bytes of a page that a writer makes, at most.
  private static final int MOST_BYTES = 8 << 20;

  /// Bytes of a block in a page.
  ///
  /// @param event that says what they are
  /// @param offset of the bytes in the segment of the page
  /// @param bytes number of bytes
  record Payload(RecordedEvent event, long offset, int bytes) {}

  /// Writes the head of the page in `buffer`, whose events lie behind the head and end at its position, which stays.
  static MemorySegment seal(ByteBuffer buffer, MemorySegment memory, long first, int count) {
    int bytes = buffer.position() - HEAD_BYTES;
    int length = filled(HEAD_BYTES + bytes);
    for (int i = HEAD_BYTES + bytes; i < length; i++) {
      buffer.put(i, (byte) 0);
    }
    buffer.order(ByteOrder.LITTLE_ENDIAN);
    buffer.putLong(0, MARK).putShort(8, VERSION).putShort(10, (short) 0).putLong(16, first).putInt(24, count)
        .putInt(28, bytes);
    buffer.putInt(CRC_AT, Checksum.of(buffer.duplicate().position(CRC_AT + Integer.BYTES).limit(HEAD_BYTES + bytes)));
    buffer.order(ByteOrder.BIG_ENDIAN);
    return memory.asSlice(0, length);
  }

  /// Finds the whole pages of one segment. What it reads in vain is bounded: a file may be full of marks that lead
  /// nowhere.
  static final class Finder {
    /// How often a file is read in vain, at most.
    private static final int TIMES = 4;

    private final SegmentWindow file;
    private long left;

    Finder(SegmentWindow file) {
      this.file = file;
      this.left = TIMES * (file.size() + MOST_BYTES);
    }

    /// The next whole page from `at` on; null if none follows.
    @Nullable Page next(long at) {
      for (long head = file.find(MARK, at, 4); head >= 0; head = file.find(MARK, head + 4, 4)) {
        Page page = read(file, head, this);
        if (page != null) {
          return page;
        }
      }
      return null;
    }

    private void readInVain(int bytes) {
      left -= bytes;
      if (left < 0) {
        throw new RecordingFormatException("damaged pages of a file", "read at most " + TIMES + " times as a whole",
            "more often");
      }
    }
  }

  private static @Nullable Page read(SegmentWindow file, long at, Finder finder) {
    if (file.size() - at < HEAD_BYTES) {
      return null;
    }
    ByteBuffer head = file.bytes(at, HEAD_BYTES).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    int version = head.getShort(8);
    int crc = head.getInt(CRC_AT);
    long first = head.getLong(16);
    int count = head.getInt(24);
    int bytes = head.getInt(28);
    if (bytes < 0 || bytes > MOST_BYTES || count < 1 || count > bytes || file.size() - at - HEAD_BYTES < bytes) {
      return null;
    }
    if (file.crc(at + CRC_AT + Integer.BYTES, HEAD_BYTES - CRC_AT - Integer.BYTES + bytes) != crc) {
      finder.readInVain(bytes);
      return null;
    }
    requireVersion(version);
    ByteBuffer events = file.bytes(at + HEAD_BYTES, bytes).asByteBuffer();
    return of(first, events, count, at + HEAD_BYTES, at + filled(HEAD_BYTES + bytes));
  }

  private static void requireVersion(int version) {
    if (version != VERSION) {
      throw new RecordingFormatException("version of a page", "" + VERSION, version);
    }
  }

  /// @param at offset of the first one of `bytes` in the segment
  private static Page of(long first, ByteBuffer bytes, int count, long at, long end) {
    List<RecordedEvent> all = new ArrayList<>(count);
    List<Payload> payloads = new ArrayList<>();
    int from = bytes.position();
    for (int i = 0; i < count; i++) {
      int start = bytes.position();
      RecordedEvent event = EventCodec.read(bytes);
      all.add(event);
      int kept = EventCodec.bytesOf(event, bytes, start);
      if (kept > 0) {
        payloads.add(new Payload(event, at + bytes.position() - from - kept, kept));
      }
    }
    return new Page(first, all, end, payloads);
  }

  private static int filled(int bytes) {
    return bytes + (-bytes & (ALIGNMENT - 1));
  }

  /// Length of the page with this `head`, with the zeros at its end.
  static int length(ByteBuffer head) {
    ByteBuffer fields = head.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    if (fields.getLong(0) != MARK) {
      throw new RecordingFormatException("mark of a page", Long.toHexString(MARK), Long.toHexString(fields.getLong(0)));
    }
    requireVersion(fields.getShort(8));
    int bytes = fields.getInt(28);
    if (bytes < 1 || bytes > MOST_BYTES) {
      throw new RecordingFormatException("bytes of a page", "within 1 and " + MOST_BYTES, bytes);
    }
    return filled(HEAD_BYTES + bytes);
  }

  /// Reads a page whose length is known.
  static Page read(ByteBuffer whole) {
    ByteBuffer fields = whole.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    int bytes = fields.getInt(28);
    int crc = Checksum.of(whole.duplicate().position(CRC_AT + Integer.BYTES).limit(HEAD_BYTES + bytes));
    int count = fields.getInt(24);
    if (crc != fields.getInt(CRC_AT)) {
      throw new RecordingFormatException("checksum of a page", Integer.toHexString(crc),
          Integer.toHexString(fields.getInt(CRC_AT)));
    } else if (count < 1 || count > bytes) {
      throw new RecordingFormatException("events of a page", "within 1 and " + bytes, count);
    }
    return of(fields.getLong(16), whole.duplicate().position(HEAD_BYTES).limit(HEAD_BYTES + bytes), count, HEAD_BYTES,
        whole.capacity());
  }
}
