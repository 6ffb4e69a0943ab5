package io.penstock.storage;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.check.Checksum;
import io.penstock.storage.engine.EngineFailure.RecordUnreadableException;
import io.penstock.storage.engine.EngineFailure.UnknownLocationException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.index.CrcMismatch;
import io.penstock.storage.index.DeadRecord;
import io.penstock.storage.index.RecordLocation;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordName;
import io.penstock.tier.spi.BlockUnreadableException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/// Reads granules of records straight into the memory of drafts, and verifies them there. Any thread; waits for the
/// disk.
///
/// Compaction may move a record and delete its old segment during a read. Then the read begins again at the new place.
final class RangeReader {
  private final SegmentEngine engine;
  private final BlockLayout layout;
  private final String boundary;
  private final LostRecords lost;
  private final Consumer<DeadRecord> freed;
  private final int headBytes;

  /// @param freed receives dead records
  RangeReader(SegmentEngine engine, BlockLayout layout, String boundary, LostRecords lost, Consumer<DeadRecord> freed) {
    this.engine = engine;
    this.layout = layout;
    this.boundary = boundary;
    this.lost = lost;
    this.freed = freed;
    this.headBytes = RecordFormat.headBytes(layout);
  }

  /// Memory for heads, for [#read].
  MemorySegment scratch(Arena arena) {
    return arena.allocate(headBytes);
  }

  /// @throws BlockCorruptException if the head, or a granule, is not as it was written
  /// @throws BlockUnreadableException if the disk gives other records and not this one
  void read(StoredRecord stored, BlockDraft draft, GranuleRange range, MemorySegment scratch) {
    while (!isRead(stored, stored.location(), draft, range, scratch)) {
      // compaction moved the record
    }
  }

  /// @return false if the record does not lie at `location` any more
  private boolean isRead(StoredRecord stored, RecordLocation location, BlockDraft draft, GranuleRange range,
      MemorySegment scratch) {
    try {
      if (range.isWhole()) {
        readWhole(stored.key(), location, draft, range, scratch);
      } else {
        readRows(stored.key(), location, draft, range, scratch);
      }
      return true;
    } catch (UnknownLocationException e) {
      if (stored.location().segment() == location.segment()) {
        throw e;
      }
      return false;
    } catch (BlockCorruptException e) {
      lost.loseRead(stored.number(), stored.key(), location,
          new CrcMismatch(boundary, e.granule(), e.expected(), e.actual()), freed);
      throw e;
    } catch (RecordUnreadableException e) {
      if (!lost.lose(stored.number(), location, e)) {
        return false; // or another reader lost it: then its location says so
      }
      freed.accept(new DeadRecord(new RecordName(stored.key(), location.sequence()), location.segment()));
      throw new BlockUnreadableException(boundary, stored.key(), e);
    }
  }

  /// Reads head and granules at once where they lie side by side. Else the granules are first: a read of what follows
  /// another looks like the beginning of a long one, and the system would read far ahead.
  private void readWhole(BlockKey key, RecordLocation location, BlockDraft draft, GranuleRange range,
      MemorySegment head) {
    Location at = location.at();
    int offset = range.offset(layout);
    if (offset == 0) {
      draft.write(range, memory -> engine.read(at, 0, head, memory));
    } else {
      draft.write(range, memory -> engine.read(at, headBytes + (long) offset, memory));
      engine.read(at, 0, head);
    }
    draft.verify(range, checksums(key, location, range, head), boundary);
  }

  /// Reads the granule aside and copies its rows, since a record has checksums of whole granules only.
  private void readRows(BlockKey key, RecordLocation location, BlockDraft draft, GranuleRange rows,
      MemorySegment head) {
    engine.read(location.at(), 0, head);
    int expected = checksums(key, location, rows, head)[0];
    GranuleRange whole = GranuleRange.whole(rows.first(), 1);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment granule = arena.allocate(whole.bytes(layout));
      engine.read(location.at(), headBytes + (long) whole.offset(layout), granule);
      int actual = Checksum.of(granule);
      if (actual != expected) {
        throw new BlockCorruptException(boundary, key, rows.first(), expected, actual);
      }
      MemorySegment part = granule.asSlice(rows.offset(layout) - whole.offset(layout), rows.bytes(layout));
      draft.write(rows, memory -> memory.copyFrom(part));
      draft.verify(rows, new int[] {Checksum.of(part)}, boundary);
    }
  }

  /// The checksums of `range` that the record's head has.
  private int[] checksums(BlockKey key, RecordLocation location, GranuleRange range, MemorySegment head) {
    int crc = RecordHead.crc(head);
    if (crc != location.headCrc()) {
      throw new BlockCorruptException(boundary + ", head of the record before", key, range.first(), location.headCrc(),
          crc);
    }
    return RecordHead.checksums(head, layout, range);
  }
}
