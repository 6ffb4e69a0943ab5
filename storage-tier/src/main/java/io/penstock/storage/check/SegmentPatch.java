package io.penstock.storage.check;

import io.penstock.storage.engine.Frames;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.Objects;

/// Writes into the file of a segment so that a walk gets along: never over a good record.
final class SegmentPatch {
  /// Longest range that one frame skips.
  private static final int MOST_BYTES = 1 << 29;

  private final Frames frames;
  private final int segment;
  private final FileChannel file;
  private final SegmentWindow window;

  /// @param window of the same file, as it was
  SegmentPatch(Frames frames, int segment, FileChannel file, SegmentWindow window) {
    this.frames = frames;
    this.segment = segment;
    this.file = file;
    this.window = window;
  }

  /// Makes the head of the segment anew.
  void head() throws IOException {
    write(0, frames.head(segment, Math.max(file.size(), frames.start())));
  }

  /// Has walks skip the record whose frame, which is good, begins at `at`.
  void skip(long at) throws IOException {
    write(at + frames.bytes(), gap());
  }

  /// Has walks skip the bytes from `at` on and find the record at `record`, whose head is good.
  void bridge(long at, long record) throws IOException {
    long end = record - frames.bytes();
    long from = at;
    while (from < end) {
      long left = end - from - frames.bytes();
      int length = (int) (left <= MOST_BYTES ? left : MOST_BYTES - 2L * SegmentEngine.RECORD_ALIGNMENT);
      write(from + frames.bytes(), gap());
      write(from, frames.frame(segment, from + frames.bytes(), length));
      from = frames.next(from + frames.bytes() + length);
    }
    write(end, frames.frame(segment, record, RecordCheck.length(head(record))));
  }

  /// Whether [#bridge] has room for its own.
  boolean canBridge(long at, long record) {
    long gap = record - frames.bytes() - at;
    return gap == 0 || gap >= frames.bytes() + (long) Long.BYTES;
  }

  /// Writes what follows the payload of the record at `record`, whose head and payload are good.
  void finish(long record) throws IOException {
    RecordHead head = head(record);
    int covered = head.bytes() + head.payloadBytes();
    ByteBuffer end = ByteBuffer.allocate(RecordCheck.length(head) - covered).order(ByteOrder.LITTLE_ENDIAN);
    int mark = end.capacity() - RecordFormat.MARK_BYTES;
    write(record + covered, end.putInt(mark, head.crc()).putInt(mark + Integer.BYTES, ~head.crc()));
  }

  /// Cuts off everything from `at` on.
  void cut(long at) throws IOException {
    file.truncate(at);
  }

  private RecordHead head(long record) {
    return Objects.requireNonNull(new RecordCheck(window).headAlone(record), "head that was good");
  }

  private static ByteBuffer gap() {
    return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(0, RecordFormat.GAP);
  }

  private void write(long at, ByteBuffer bytes) throws IOException {
    long to = at;
    while (bytes.hasRemaining()) {
      to += file.write(bytes, to);
    }
  }
}
