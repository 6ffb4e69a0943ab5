package io.penstock.storage.engine.file;

import io.penstock.storage.engine.EngineFailure.SegmentUnreadableException;
import io.penstock.storage.engine.SegmentWindow;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;

/// Names and words of Chronicle cycle files. Chronicle itself never opens a file of an earlier run, so damage there
/// cannot reach it.
final class ChronicleFormat {
  static final long HOUR_MILLIS = 3_600_000;

  /// Offset of the segment's head in a reused file, until records lie there.
  static final int HEAD_AT = ChronicleRun.OVERHEAD_BYTES - SegmentHead.BYTES;
  static final int HEADER_BYTES = 4;
  static final int NOT_COMPLETE = 0x8000_0000;
  static final int META_DATA = 0x4000_0000;
  static final int LENGTH = 0x3FFF_FFFF;
  private static final String SUFFIX = ".cq4";
  private static final DateTimeFormatter HOUR = new DateTimeFormatterBuilder()
      .appendPattern("uuuuMMdd-HH").parseDefaulting(ChronoField.MINUTE_OF_HOUR, 0).toFormatter();

  private ChronicleFormat() {}

  /// Name of a segment's file: the number counts hours since 1970.
  static String fileName(int segment) {
    return HOUR.format(LocalDateTime.ofEpochSecond(segment * (HOUR_MILLIS / 1000), 0, ZoneOffset.UTC)) + SUFFIX;
  }

  /// The segment of a file name; 0 if it is not the name of a cycle file.
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

  /// Sets the start of records in `file` behind Chronicle's notes. The words between records are Chronicle's own: no
  /// reader needs them.
  static SegmentWindow window(SegmentWindow file) {
    int number = SegmentHead.numberIfReadable(file, HEAD_AT);
    long at = 0;
    for (int length = noted(file, at); length > 0; length = noted(file, at)) {
      at += HEADER_BYTES + length + (-length & (HEADER_BYTES - 1));
    }
    return file.holds(number, at, HEADER_BYTES);
  }

  /// Length of Chronicle's note behind the word at `at`; 0 if there is none.
  private static int noted(SegmentWindow file, long at) {
    try {
      long left = file.size() - at - HEADER_BYTES;
      int word = left < 0 ? 0 : file.word(at);
      int length = word & LENGTH;
      return (word & SegmentWindow.END_OF_FILE) == META_DATA && length <= left ? length : 0;
    } catch (SegmentUnreadableException e) {
      return 0; // the walk will find out
    }
  }
}
