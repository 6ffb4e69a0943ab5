package io.penstock.storage;

import io.penstock.block.Checksum;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.record.RecordException;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// Reads records that nobody vouches for, at opening. One thread.
final class RecordReader {
  private static final int GUESS_BYTES = 2048;
  private static final int PAGE_BYTES = 4096;

  private final SegmentEngine engine;
  private final String boundary;
  private final MemorySegment start = Arena.ofAuto().allocate(GUESS_BYTES);
  private final MemorySegment mark = Arena.ofAuto().allocate(RecordFormat.MARK_BYTES);

  RecordReader(SegmentEngine engine, String boundary) {
    this.engine = engine;
    this.boundary = boundary;
  }

  /// Whether what was at `at` was taken out.
  boolean isAside(Location at) {
    if (at.length() < Long.BYTES) {
      return false;
    }
    engine.read(at, 0, mark);
    return mark.get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), 0) == RecordFormat.GAP;
  }

  /// The head of a record that was finished.
  ///
  /// @throws RecordException if there is none at `at`
  RecordHead finished(Location at) {
    RecordHead head = head(at);
    readMark(at);
    head.requireMark(mark);
    return head;
  }

  /// Whether the record whose `head` is at `at` has its mark.
  boolean isFinished(Location at, RecordHead head) {
    readMark(at);
    return head.isMarked(mark);
  }

  /// Whether what ends the record at `at` is the mark of some head.
  boolean hasMark(Location at) {
    if (at.length() < RecordFormat.SHORTEST_RECORD || at.length() % SegmentEngine.RECORD_ALIGNMENT != 0) {
      return false;
    }
    readMark(at);
    return RecordHead.isMark(mark);
  }

  private void readMark(Location at) {
    engine.read(at, at.length() - mark.byteSize(), mark);
  }

  /// Whether a page of the record at `at` that the bytes from `from` to `to` lie on is zero, as far as the record goes:
  /// as if it had never got to the medium.
  boolean hasHole(Location at, long from, long to) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment zeros = arena.allocate(PAGE_BYTES);
      MemorySegment page = arena.allocate(PAGE_BYTES);
      boolean hole = false;
      for (long next = at.offset() + from & -PAGE_BYTES; next < at.offset() + to && !hole; next += PAGE_BYTES) {
        long begin = Math.max(next, at.offset());
        long bytes = Math.min(next + PAGE_BYTES, at.offset() + at.length()) - begin;
        engine.read(at, begin - at.offset(), page.asSlice(0, bytes));
        hole = page.asSlice(0, bytes).mismatch(zeros.asSlice(0, bytes)) < 0;
      }
      return hole;
    }
  }

  /// The head at `at`, of a record that may not be finished.
  ///
  /// @throws RecordException if there is none
  RecordHead head(Location at) {
    MemorySegment first = start.asSlice(0, Math.min(start.byteSize(), at.length()));
    engine.read(at, 0, first);
    int bytes = RecordHead.bytes(first, at.length());
    if (bytes <= first.byteSize()) {
      return RecordHead.decode(first, at.length());
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment whole = arena.allocate(bytes);
      engine.read(at, 0, whole);
      return RecordHead.decode(whole, at.length());
    }
  }

  /// Reads every byte of a payload and compares; null if each is as it was written.
  @Nullable Flaw flaw(Location at, RecordHead head) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment payload = arena.allocate(head.payloadBytes());
      engine.read(at, head.bytes(), payload);
      long offset = 0;
      for (int granule = 0; granule < head.granules(); granule++) {
        int actual = Checksum.of(payload.asSlice(offset, head.granuleBytes(granule)));
        if (actual != head.checksum(granule)) {
          return new Flaw(boundary, granule, head.checksum(granule), actual);
        }
        offset += head.granuleBytes(granule);
      }
      return null;
    }
  }
}
