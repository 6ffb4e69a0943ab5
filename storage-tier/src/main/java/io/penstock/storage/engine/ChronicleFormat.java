package io.penstock.storage.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.util.function.Consumer;

/// The frames of a Chronicle cycle file, walked with positioned reads: Chronicle itself never opens a file of an
/// earlier run, so damage there cannot reach it.
final class ChronicleFormat {
  static final long HOUR_MILLIS = 3_600_000;

  static final int HEADER_BYTES = 4;
  static final int NOT_COMPLETE = 0x8000_0000;
  static final int META_DATA = 0x4000_0000;
  static final int END_OF_FILE = NOT_COMPLETE | META_DATA;
  static final int LENGTH = 0x3FFF_FFFF;
  private static final String SUFFIX = ".cq4";
  private static final DateTimeFormatter HOUR = new DateTimeFormatterBuilder()
      .appendPattern("uuuuMMdd-HH").parseDefaulting(ChronoField.MINUTE_OF_HOUR, 0).toFormatter();

  private ChronicleFormat() {}

  /// The cycle file of a segment: its number counts hours since 1970.
  static String fileName(int segment) {
    return HOUR.format(LocalDateTime.ofEpochSecond(segment * (HOUR_MILLIS / 1000), 0, ZoneOffset.UTC)) + SUFFIX;
  }

  /// The number that a file name stands for; 0 if it is none of ours.
  static int segment(Path file) {
    String name = file.getFileName().toString();
    if (!name.endsWith(SUFFIX)) {
      return 0;
    }
    try {
      LocalDateTime hour = LocalDateTime.parse(name.substring(0, name.length() - SUFFIX.length()), HOUR);
      long number = hour.toEpochSecond(ZoneOffset.UTC) / (HOUR_MILLIS / 1000);
      return number > 0 && number <= Integer.MAX_VALUE ? (int) number : 0;
    } catch (DateTimeParseException e) {
      return 0;
    }
  }

  /// Where a walk ended.
  ///
  /// @param end behind the last complete frame
  /// @param how what is there
  /// @param reserveOnly whether nothing but the reserve, or one unfinished frame, can follow
  record Walk(long end, ScanEnd how, boolean reserveOnly) {}

  /// Tells the records whose frames lie before the segment's end.
  static Walk walk(SegmentFile segment, Consumer<Location> visitor) throws IOException {
    FileChannel file = segment.channel();
    long end = segment.end();
    ByteBuffer word = PlainFormat.direct(HEADER_BYTES);
    long at = 0;
    while (end - at >= HEADER_BYTES) {
      Transfer.read(file, at, word.clear());
      int header = word.getInt(0);
      if (header == 0 || header == END_OF_FILE) {
        return new Walk(at, at == 0 ? ScanEnd.TORN : ScanEnd.CLEAN, true);
      }
      if ((header & NOT_COMPLETE) != 0) {
        return new Walk(at, ScanEnd.TORN, true);
      }
      int length = header & LENGTH;
      long body = at + HEADER_BYTES;
      if (length == 0 || length > end - body) {
        return new Walk(at, ScanEnd.TORN, false);
      }
      if ((header & META_DATA) == 0) {
        visitor.accept(new Location(segment.number(), body, length));
      }
      at = body + length + (-length & (HEADER_BYTES - 1));
    }
    return new Walk(at, at == end ? ScanEnd.CLEAN : ScanEnd.TORN, false);
  }
}
