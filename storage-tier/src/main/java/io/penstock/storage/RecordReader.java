package io.penstock.storage;

import io.penstock.block.BlockCorruptException;
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

/// Reads records that nobody vouches for, at opening. One thread.
final class RecordReader {
  private static final int GUESS_BYTES = 2048;

  private final SegmentEngine engine;
  private final String boundary;
  private final MemorySegment start = Arena.ofAuto().allocate(GUESS_BYTES);
  private final MemorySegment mark = Arena.ofAuto().allocate(RecordFormat.MARK_BYTES);

  RecordReader(SegmentEngine engine, String boundary) {
    this.engine = engine;
    this.boundary = boundary;
  }

  /// Whether a repair took out what was at `at`.
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
    engine.read(at, at.length() - mark.byteSize(), mark);
    head.requireMark(mark);
    return head;
  }

  private RecordHead head(Location at) {
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

  /// Reads every byte of a payload and compares.
  ///
  /// @throws BlockCorruptException at the first difference
  void verifyPayload(Location at, RecordHead head) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment payload = arena.allocate(head.payloadBytes());
      engine.read(at, head.bytes(), payload);
      long offset = 0;
      for (int granule = 0; granule < head.granules(); granule++) {
        int actual = Checksum.of(payload.asSlice(offset, head.granuleBytes(granule)));
        if (actual != head.checksum(granule)) {
          throw new BlockCorruptException(boundary, head.key(), granule, head.checksum(granule), actual);
        }
        offset += head.granuleBytes(granule);
      }
    }
  }
}
