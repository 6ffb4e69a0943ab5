package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.check.Checksum;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.index.CrcMismatch;
import io.penstock.storage.index.RecordLocation;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Reads whole records, for compaction and the scrub, and compares every byte. One thread.
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

  /// Reads the record at `location`. [#head] and [#payload] are its bytes until the next call.
  ///
  /// @return null if every byte is as it was written
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

  /// Reads only the head of the record at `location`.
  ///
  /// @return the key; null if the head is not as it was written
  @Nullable BlockKey keyAt(RecordLocation location) {
    source.read(location.at(), 0, head);
    return isHeadOf(location) ? key() : null;
  }

  int recordBytes() {
    return (int) record.byteSize();
  }

  /// The key in the head that was read.
  BlockKey key() {
    return RecordHead.key(head);
  }

  /// Whether the head that was read is the one of the record at `location`.
  boolean isHeadOf(RecordLocation location) {
    return RecordHead.crc(head) == location.headCrc();
  }

  MemorySegment head() {
    return head;
  }

  MemorySegment payload() {
    return payload;
  }
}
