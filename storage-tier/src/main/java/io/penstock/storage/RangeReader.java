package io.penstock.storage;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.Owned;
import io.penstock.check.Checksum;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.RecordUnreadableException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.UnknownLocationException;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordName;
import io.penstock.tier.spi.BlockUnreadableException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Reads granules of records straight into the memory of drafts, and has them compared there. Any thread; waits for the
/// disk.
final class RangeReader {
  private final SegmentEngine engine;
  private final BlockLayout layout;
  private final String boundary;
  private final LostRecords lost;
  private final Consumer<DeadRecord> freed;
  private final int headBytes;

  /// @param freed hears of records that count no more
  RangeReader(SegmentEngine engine, BlockLayout layout, String boundary, LostRecords lost, Consumer<DeadRecord> freed) {
    this.engine = engine;
    this.layout = layout;
    this.boundary = boundary;
    this.lost = lost;
    this.freed = freed;
    this.headBytes = RecordFormat.headBytes(layout);
  }

  /// Memory for heads, to be handed to [#read].
  MemorySegment scratch(Arena arena) {
    return arena.allocate(headBytes);
  }

  /// @throws BlockCorruptException if the head, or a granule, is not as it was written
  /// @throws BlockUnreadableException if the disk gives others and not this one
  void read(StoredRecord stored, BlockDraft draft, GranuleRange range, MemorySegment scratch) {
    try {
      if (range.isWhole() && range.offset(layout) == 0) {
        readAtOnce(stored, draft, range, scratch);
      } else {
        readPinned(stored, draft, range, scratch);
      }
    } catch (RecordUnreadableException e) {
      RecordLocation location = stored.location();
      // It was moved since, or another reader lost it
      if (!location.at().equals(e.record()) || !lost.lose(stored.number(), location, e)) {
        read(stored, draft, range, scratch);
        return;
      }
      freed.accept(new DeadRecord(new RecordName(stored.key(), location.sequence()), location.segment()));
      throw new BlockUnreadableException(boundary, stored.key(), e);
    }
  }

  /// Head and granules lie side by side, and the engine keeps their segment while it reads: no pin is needed.
  private void readAtOnce(StoredRecord stored, BlockDraft draft, GranuleRange range, MemorySegment head) {
    RecordLocation location = stored.location();
    UnknownLocationException gone = tried(location.at(), draft, range, head);
    while (gone != null) { // the block was moved, and its segment deleted
      RecordLocation to = stored.location();
      if (to.segment() == location.segment()) {
        throw gone;
      }
      location = to;
      gone = tried(location.at(), draft, range, head);
    }
    try {
      draft.verify(range, checksums(stored.key(), location, range, head), boundary);
    } catch (BlockCorruptException e) {
      lose(stored, location, e);
      throw e;
    }
  }

  private void lose(StoredRecord stored, RecordLocation location, BlockCorruptException e) {
    lost.loseRead(stored.number(), stored.key(), location,
        new CrcMismatch(boundary, e.granule(), e.expected(), e.actual()), freed);
  }

  private @Nullable UnknownLocationException tried(Location at, BlockDraft draft, GranuleRange range,
      MemorySegment head) {
    try {
      draft.write(range, memory -> engine.read(at, 0, head, memory));
      return null;
    } catch (UnknownLocationException e) {
      return e;
    }
  }

  private void readPinned(StoredRecord stored, BlockDraft draft, GranuleRange range, MemorySegment scratch) {
    RecordLocation location = stored.location();
    Owned pin = pin(location.segment());
    while (pin == null) {
      location = moved(stored, location);
      pin = pin(location.segment());
    }
    try {
      read(stored.key(), location, location.at(), draft, range, scratch);
    } catch (BlockCorruptException e) {
      lose(stored, location, e);
      throw e;
    } finally {
      pin.close();
    }
  }

  /// Keeps a segment, unless it is gone.
  private @Nullable Owned pin(int segment) {
    try {
      return engine.pin(segment);
    } catch (UnknownLocationException e) {
      return null;
    }
  }

  private RecordLocation moved(StoredRecord stored, RecordLocation from) {
    RecordLocation to = stored.location();
    if (to.segment() == from.segment()) {
      engine.pin(from.segment()).close(); // says what is wrong
    }
    return to;
  }

  /// Granules before the head: a read of what follows another looks like the beginning of a long one, and the system
  /// would read far ahead.
  private void read(BlockKey key, RecordLocation location, Location at, BlockDraft draft, GranuleRange range,
      MemorySegment head) {
    if (range.isWhole()) {
      draft.write(range, memory -> engine.read(at, headBytes + (long) range.offset(layout), memory));
      engine.read(at, 0, head);
      draft.verify(range, checksums(key, location, range, head), boundary);
    } else {
      engine.read(at, 0, head);
      readRows(key, at, draft, range, checksums(key, location, range, head)[0]);
    }
  }

  /// What the record's head says of `range`.
  private int[] checksums(BlockKey key, RecordLocation location, GranuleRange range, MemorySegment head) {
    int crc = RecordHead.crc(head);
    if (crc != location.headCrc()) {
      throw new BlockCorruptException(boundary + ", head of the record before", key, range.first(), location.headCrc(),
          crc);
    }
    return RecordHead.checksums(head, layout, range);
  }

  /// The record vouches for whole granules only, so the granule is read aside and its rows are copied.
  private void readRows(BlockKey key, Location at, BlockDraft draft, GranuleRange rows, int expected) {
    GranuleRange whole = GranuleRange.whole(rows.first(), 1);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment granule = arena.allocate(whole.bytes(layout));
      engine.read(at, headBytes + (long) whole.offset(layout), granule);
      int actual = Checksum.of(granule);
      if (actual != expected) {
        throw new BlockCorruptException(boundary, key, rows.first(), expected, actual);
      }
      MemorySegment part = granule.asSlice(rows.offset(layout) - whole.offset(layout), rows.bytes(layout));
      draft.write(rows, memory -> memory.copyFrom(part));
      draft.verify(rows, new int[] {Checksum.of(part)}, boundary);
    }
  }
}
