package io.penstock.storage.engine;

import io.penstock.block.Checksum;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/// The bytes of a plain segment, little-endian: a head, then frames. `FORMAT.md` describes them.
final class PlainFormat {
  static final int HEAD_BYTES = 64;
  static final int FRAME_BYTES = 8;
  static final int VERSION = 1;

  private static final byte[] MAGIC = "PNSTKSEG".getBytes(StandardCharsets.US_ASCII);
  private static final Pattern NAME = Pattern.compile("segment-(\\d{10})\\.log");
  private static final int HEAD_CRC = HEAD_BYTES - 4;

  private PlainFormat() {}

  static String fileName(int segment) {
    return "segment-%010d.log".formatted(segment);
  }

  /// The number that a file name stands for; 0 if it is none of ours.
  static int segment(Path file) {
    Matcher name = NAME.matcher(file.getFileName().toString());
    return name.matches() && Long.parseLong(name.group(1)) <= Integer.MAX_VALUE
        ? (int) Long.parseLong(name.group(1))
        : 0;
  }

  static ByteBuffer head(int segment, long capacity) {
    ByteBuffer head = direct(HEAD_BYTES).put(0, MAGIC).putInt(8, VERSION).putInt(12, segment).putLong(16, capacity);
    return head.putInt(HEAD_CRC, Checksum.of(head.slice(0, HEAD_CRC)));
  }

  /// Writes into `frame` what stands before a record of `length` bytes at `offset`.
  static void frame(ByteBuffer frame, int segment, long offset, int length) {
    frame.clear();
    frame.putInt(0, length).putInt(4, frameCrc(segment, offset, length));
  }

  /// Whether the head is all there.
  ///
  /// @throws JournalFormatException if its version is not known
  static boolean hasHead(SegmentFile segment) throws IOException {
    FileChannel file = segment.channel();
    if (file.size() < HEAD_BYTES) {
      return false;
    }
    ByteBuffer head = direct(HEAD_BYTES);
    Transfer.read(file, 0, head);
    return isHead(head, segment.path(), segment.number());
  }

  /// Whether `head` is the one of segment `number`.
  ///
  /// @throws JournalFormatException if its version is not known
  static boolean isHead(ByteBuffer head, Path path, int number) {
    if (head.slice(0, MAGIC.length).mismatch(ByteBuffer.wrap(MAGIC)) >= 0
        || head.getInt(HEAD_CRC) != Checksum.of(head.slice(0, HEAD_CRC))) {
      return false;
    }
    if (head.getInt(8) != VERSION) {
      throw new JournalFormatException("version of segment " + path, Integer.toString(VERSION),
          Integer.toString(head.getInt(8)));
    }
    return head.getInt(12) == number;
  }

  /// Tells the records whose frames lie before `end`.
  static ScanEnd scan(SegmentFile segment, Consumer<Location> visitor) throws IOException {
    long end = segment.end();
    if (end < HEAD_BYTES || !hasHead(segment)) {
      return ScanEnd.TORN;
    }
    ByteBuffer frame = direct(FRAME_BYTES);
    long at = HEAD_BYTES;
    while (end - at >= FRAME_BYTES) {
      Transfer.read(segment.channel(), at, frame.clear());
      int length = frame.getInt(0);
      long record = at + FRAME_BYTES;
      if (frame.getLong(0) == 0) {
        return ScanEnd.CLEAN;
      }
      if (length <= 0 || length > EngineOptions.MOST_RECORD_BYTES || length % SegmentEngine.RECORD_ALIGNMENT != 0
          || length > end - record
          || frame.getInt(4) != frameCrc(segment.number(), record, length)) {
        return ScanEnd.TORN;
      }
      visitor.accept(new Location(segment.number(), record, length));
      at = record + length;
    }
    return at == end ? ScanEnd.CLEAN : ScanEnd.TORN;
  }

  static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  static int frameCrc(int segment, long offset, int length) {
    CRC32C crc = new CRC32C();
    crc.update(
        ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).putInt(length).putInt(segment).putLong(offset).flip());
    return (int) crc.getValue();
  }
}
