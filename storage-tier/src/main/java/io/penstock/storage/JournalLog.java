package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.storage.disk.SyncQueue;
import io.penstock.storage.engine.EngineFailure.UnknownLocationException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.index.DeadRecord;
import io.penstock.storage.index.LocationTable;
import io.penstock.storage.index.RecordLocation;
import io.penstock.storage.index.SegmentIndex;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordName;
import io.penstock.storage.record.RecordWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// Writes a journal: appends blocks and removals, and deletes segments that are not needed. Used by one thread at a
/// time.
final class JournalLog {
  /// Margin above the bytes of a segment that engines use in addition to records.
  private static final int MARGIN_BYTES = 128 << 10;

  private final JournalStore store;
  private final SegmentEngine engine;
  private final RecordWriter writer;
  private final int recordBytes;
  private final long segmentBytes;
  private final SyncQueue syncs;
  private final String boundary;
  private final SegmentIndex index;
  private final LocationTable locations;
  private long sequence;
  private long userBytes;
  /// The newest record of this run.
  private @Nullable Location end;
  private volatile boolean waitsForSync;
  /// Dead records that no removal names yet.
  private final List<DeadRecord> unmarked = new ArrayList<>();

  /// @param syncs forces what this log appends
  /// @param sequence of the newest record
  /// @param segmentBytes capacity of a segment
  JournalLog(JournalStore store, CacheSpace space, SegmentEngine engine, SyncQueue syncs, SegmentIndex index,
      LocationTable locations,
      long sequence, long segmentBytes) {
    this.store = store;
    this.engine = engine;
    this.writer = new RecordWriter(space.layout());
    this.recordBytes = RecordFormat.recordBytes(space.layout());
    this.syncs = syncs;
    this.boundary = "tier " + store.name();
    this.index = index;
    this.locations = locations;
    this.sequence = sequence;
    this.segmentBytes = segmentBytes;
  }

  /// Appends `blocks`. If one of them fails, those before it are freed again.
  ///
  /// @param room makes room before each block
  List<StoredRecord> append(List<Block> blocks, CapacityLimit room) {
    List<StoredRecord> storedBlocks = new ArrayList<>(blocks.size());
    try {
      for (Block block : blocks) {
        room.require();
        storedBlocks.add(append(block));
      }
      syncs.acknowledged();
      return storedBlocks;
    } catch (Throwable e) { // the caller gets none of the blocks
      storedBlocks.forEach(StoredRecord::close);
      throw e;
    }
  }

  private StoredRecord append(Block block) {
    block.verify(boundary);
    syncs.admit(recordBytes);
    long number = ++sequence;
    Location at = append(recordBytes,
        segment -> block.read(payload -> engine.append(writer.block(block, payload, number, segment))));
    index.written(at.segment());
    userBytes += at.length();
    return new StoredRecord(store, block.key(), locations.add(new RecordLocation(at, number, writer.crc())));
  }

  /// A record names its segment. If a failed sync ends that segment just before the append, the record is written
  /// again: a record that names the wrong segment does not count.
  private Location append(int length, IntFunction<Location> work) {
    int segment = engine.segmentFor(length);
    Location at = appended(work.apply(segment));
    while (at.segment() != segment) {
      segment = at.segment();
      at = appended(work.apply(segment));
    }
    return at;
  }

  private Location appended(Location at) {
    syncs.appended(at.length());
    end = at;
    return at;
  }

  /// Whether the next record may be the first of a segment.
  boolean mayBeginSegment() {
    Location last = end;
    return last == null || last.segment() != engine.activeSegment()
        || last.offset() + last.length() + recordBytes + MARGIN_BYTES > segmentBytes;
  }

  /// Appends the record that `mover` holds once more, and moves `row` in the table to the new place.
  void move(int row, RecordLocation from, RecordMover mover) {
    syncs.admit(recordBytes);
    long number = ++sequence;
    BlockKey key = mover.key();
    Location at = append(recordBytes,
        segment -> engine.append(writer.again(mover.head(), mover.payload(), key, number, segment)));
    index.written(at.segment());
    if (locations.move(row, from, new RecordLocation(at, number, writer.crc()))) {
      index.moved(new DeadRecord(new RecordName(key, from.sequence()), from.segment()), number);
      index.copied(from.segment(), syncs.position() - at.length(), syncs.position());
    } else {
      index.freed(at.segment());
      unmarked.add(new DeadRecord(new RecordName(key, number), at.segment()));
    }
  }

  /// Counts `freed` records as dead, and deletes segments without a live record. Writes a removal when enough dead
  /// records are gathered.
  ///
  /// Work that the disk refuses now is tried again at the next call.
  ///
  /// @return the failure, if there is one
  @Nullable KvException sweep(List<DeadRecord> freed) {
    for (DeadRecord dead : freed) {
      index.freed(dead.segment());
      for (DeadRecord each = dead; each != null && each.name() != null; each =
          index.original(each.named().sequence())) {
        unmarked.add(each);
      }
    }
    return done(RecordWriter.REMOVALS);
  }

  /// Writes removals of all dead records, and syncs them if the durability is `always`.
  ///
  /// @return the failure, if there is one
  @Nullable KvException flush() {
    KvException failure = done(1);
    try {
      syncs.acknowledged();
      return failure;
    } catch (KvException e) {
      return failure == null ? e : failure;
    }
  }

  private @Nullable KvException done(int enough) {
    KvException failure = deleteUnneeded(false);
    try {
      mark(enough);
      return failure;
    } catch (KvException e) {
      return failure == null ? e : failure;
    }
  }

  /// Deletes segments that are not needed. Syncs first if their copies need it.
  ///
  /// @throws KvException if a delete failed and no segment was deleted
  void deleteNow() {
    int before = index.segments();
    KvException failure = deleteUnneeded(true);
    if (failure != null && index.segments() >= before) {
      throw failure;
    }
  }

  /// Deletes all segments that can be deleted.
  ///
  /// @return the first failure, if there is one
  private @Nullable KvException deleteUnneeded(boolean now) {
    waitsForSync = false;
    KvException first = null;
    for (int segment : index.unneeded(engine.activeSegment())) {
      try {
        deleteUnneeded(segment, now);
      } catch (KvException e) {
        first = first == null ? e : first;
      }
    }
    return first;
  }

  private void deleteUnneeded(int segment, boolean now) {
    writeAnew(segment);
    long from = index.copiedFrom(segment);
    long to = index.copiedAt(segment);
    boolean others = waitsForSync;
    waitsForSync = true; // first: the sync may end before `secure` returns
    boolean safe = syncs.secure(from, to, now);
    if (safe || syncs.isLost(from, to)) { // the older copy stays until the next opening
      waitsForSync = others;
    }
    if (safe && segment != engine.activeSegment()) {
      try {
        engine.delete(segment);
      } catch (UnknownLocationException gone) {
        // a delete that failed later took the name
      }
      index.deleted(segment, syncs.changed());
      locations.forget(segment);
    }
  }

  /// Copies the removals of `segment` that are still needed.
  private void writeAnew(int segment) {
    index.forced(syncs::isForced);
    List<DeadRecord> needed = index.neededRemovals(segment);
    long before = syncs.position();
    for (int from = 0; from < needed.size(); from += RecordWriter.REMOVALS) {
      remove(needed.subList(from, Math.min(needed.size(), from + RecordWriter.REMOVALS)));
    }
    if (!needed.isEmpty()) {
      index.removalsCopied(segment);
      index.copied(segment, before, syncs.position());
    }
  }

  /// Whether a segment is kept only until the next sync.
  boolean waitsForSync() {
    return waitsForSync;
  }

  private void mark(int enough) {
    if (unmarked.size() < enough) {
      return;
    }
    unmarked.removeIf(dead -> !index.exists(dead.segment())); // its segment is gone
    while (unmarked.size() >= enough) {
      List<DeadRecord> next = unmarked.subList(0, Math.min(unmarked.size(), RecordWriter.REMOVALS));
      remove(next);
      next.clear();
    }
  }

  private void remove(List<DeadRecord> dead) {
    syncs.admit(RecordFormat.removalBytes(dead.size()));
    long number = ++sequence;
    List<RecordName> names = dead.stream().map(DeadRecord::named).toList();
    Location at = append(RecordFormat.removalBytes(names.size()),
        segment -> engine.append(writer.removal(names, number, segment)));
    dead.forEach(each -> index.removed(each, at.segment()));
  }

  /// Bytes of blocks that were put.
  long userBytes() {
    return userBytes;
  }

  /// Syncs the rest. The last call.
  ///
  /// @return the failure, if there is one
  @Nullable KvException close() {
    return syncs.close();
  }
}
