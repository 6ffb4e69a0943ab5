package io.penstock.storage;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.Checksum;
import io.penstock.block.GranuleRange;
import io.penstock.block.Owned;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.UnknownLocationException;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Reads granules of records straight into the memory of drafts, and has them compared there. Any thread; waits for the disk.
final class RangeReader {
  private final SegmentEngine engine;
  private final BlockLayout layout;
  private final String boundary;
  private final int headBytes;

  RangeReader(SegmentEngine engine, BlockLayout layout, String boundary) {
    this.engine = engine;
    this.layout = layout;
    this.boundary = boundary;
    this.headBytes = RecordFormat.headBytes(layout);
  }

  /// Memory for heads, to be handed to [#read].
  MemorySegment scratch(Arena arena) {
    return arena.allocate(headBytes);
  }

  /// @throws BlockCorruptException if the head, or a granule, is not as it was written
  void read(JournalRest rest, BlockDraft draft, GranuleRange range, MemorySegment scratch) {
    Place place = rest.place();
    Owned pin = pin(place.segment());
    while (pin == null) { // the block was moved, and its segment deleted
      place = moved(rest, place);
      pin = pin(place.segment());
    }
    try {
      read(rest.key(), place, place.location(), draft, range, scratch);
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

  private Place moved(JournalRest rest, Place from) {
    Place to = rest.place();
    if (to.segment() == from.segment()) {
      engine.pin(from.segment()).close(); // says what is wrong
    }
    return to;
  }

  private void read(BlockKey key, Place place, Location at, BlockDraft draft, GranuleRange range, MemorySegment scratch) {
    if (range.isWhole()) {
      draft.write(range, memory -> read(at, range, scratch, memory));
      draft.verify(range, checksums(key, place, range, scratch), boundary);
    } else {
      engine.read(at, 0, scratch);
      readRows(key, at, draft, range, checksums(key, place, range, scratch)[0]);
    }
  }

  /// Head and granules at once where they lie side by side; else the granules first, since a read of what follows another looks like the
  /// beginning of a long one, and the system would read far ahead.
  private void read(Location at, GranuleRange range, MemorySegment head, MemorySegment granules) {
    int offset = range.offset(layout);
    if (offset == 0) {
      engine.read(at, 0, head, granules);
    } else {
      engine.read(at, headBytes + (long) offset, granules);
      engine.read(at, 0, head);
    }
  }

  /// What the record's head says of `range`.
  private int[] checksums(BlockKey key, Place place, GranuleRange range, MemorySegment head) {
    int crc = RecordHead.crc(head);
    if (crc != place.headCrc()) {
      throw new BlockCorruptException(boundary + ", head of the record before", key, range.first(), place.headCrc(), crc);
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
