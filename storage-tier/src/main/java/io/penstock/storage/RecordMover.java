package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.check.Checksum;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Reads the records of blocks that are to be moved, and compares every byte. Used by one thread.
final class RecordMover {
  private final Source source;
  private final BlockLayout layout;
  private final String boundary;
  private final MemorySegment record;
  private final MemorySegment head;
  private final MemorySegment payload;

  /// Reads as [SegmentEngine#read(Location, long, MemorySegment)].
  @FunctionalInterface
  interface Source {
    void read(Location record, long from, MemorySegment into);
  }

  RecordMover(Source source, BlockLayout layout, String boundary) {
    this.source = source;
    this.layout = layout;
    this.boundary = boundary;
    this.record = Arena.ofAuto().allocate(RecordFormat.recordBytes(layout));
    this.head = record.asSlice(0, RecordFormat.headBytes(layout));
    this.payload = record.asSlice(head.byteSize(), layout.blockBytes());
  }

  /// Reads the record at `location`: then [#head] and [#payload] are its bytes, until the next call.
  ///
  /// @return null if all of them are as they were written
  @Nullable CrcMismatch read(RecordLocation location) {
    source.read(location.at(), 0, record);
    int crc = RecordHead.crc(head);
    if (crc != location.headCrc()) {
      return new CrcMismatch(boundary + ", head of the record", 0, location.headCrc(), crc);
    }
    int[] checksums = RecordHead.checksums(head, layout, GranuleRange.all(layout));
    int planes = layout.planes().size();
    long offset = 0;
    for (int granule = 0; granule < checksums.length; granule++) {
      int bytes = layout.planeBytes(granule % planes);
      int actual = Checksum.of(payload.asSlice(offset, bytes));
      if (actual != checksums[granule]) {
        return new CrcMismatch(boundary, granule, checksums[granule], actual);
      }
      offset += bytes;
    }
    return null;
  }

  /// The block of the record at `location`, whose head alone is read.
  ///
  /// @return null if the head is not as it was written
  @Nullable BlockKey keyAt(RecordLocation location) {
    source.read(location.at(), 0, head);
    return isHeadOf(location) ? key() : null;
  }

  int recordBytes() {
    return (int) record.byteSize();
  }

  /// Of the block whose record was read, and is as it was written.
  BlockKey key() {
    return RecordHead.key(head);
  }

  /// Whether the head that was read is that of the record at `location`.
  boolean isHeadOf(RecordLocation location) {
    return RecordHead.crc(head) == location.headCrc();
  }

  /// All that was read.
  MemorySegment record() {
    return record;
  }

  MemorySegment head() {
    return head;
  }

  MemorySegment payload() {
    return payload;
  }
}
