package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.CacheSpace;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The writing side of a journal: appends blocks and removals, deletes segments that nobody needs. Used by one thread at a time.
final class JournalLog {
  private final JournalStore store;
  private final SegmentEngine engine;
  private final RecordWriter writer;
  private final int recordBytes;
  private final SyncLine syncs;
  private final String boundary;
  private final SegmentBook book;
  private long sequence;
  private volatile boolean waitsForSync;
  /// Dead records whose removal is yet to be written.
  private final List<DeadRecord> unmarked = new ArrayList<>();

  /// @param syncs forces what is appended here
  /// @param book of what is there
  /// @param sequence of the newest record
  JournalLog(JournalStore store, CacheSpace space, SegmentEngine engine, SyncLine syncs, SegmentBook book, long sequence) {
    this.store = store;
    this.engine = engine;
    this.writer = new RecordWriter(space.layout());
    this.recordBytes = RecordFormat.recordBytes(space.layout());
    this.syncs = syncs;
    this.boundary = "tier " + store.name();
    this.book = book;
    this.sequence = sequence;
  }

  /// Appends `blocks`, all or none of them: if one fails, those before it are freed again.
  List<JournalRest> append(List<Block> blocks) {
    List<JournalRest> rests = new ArrayList<>(blocks.size());
    try {
      for (Block block : blocks) {
        rests.add(append(block));
      }
      syncs.acknowledged();
      return rests;
    } catch (RuntimeException e) {
      rests.forEach(JournalRest::close);
      throw e;
    }
  }

  private JournalRest append(Block block) {
    block.verify(boundary);
    syncs.admit(recordBytes);
    long number = ++sequence;
    Location at = block.read(payload -> engine.append(writer.block(block, payload, number)));
    syncs.appended(at.length());
    book.written(at.segment());
    return new JournalRest(store, block.key(), at, number, writer.crc());
  }

  /// Takes note that `freed` records are dead, and deletes segments that hold nothing else. The others are marked as removed when enough
  /// of them are gathered for one record.
  ///
  /// What cannot be done now, because the disk is full or fails, is done at the next call.
  ///
  /// @return what could not be done, if anything
  @Nullable KvException sweep(List<DeadRecord> freed) {
    for (DeadRecord dead : freed) {
      book.freed(dead.segment());
      unmarked.add(dead);
    }
    return done(RecordWriter.REMOVALS);
  }

  /// Marks all dead records, however few.
  ///
  /// @return what could not be done, if anything
  @Nullable KvException settle() {
    return done(1);
  }

  private @Nullable KvException done(int enough) {
    try {
      deleteUnneeded();
      mark(enough);
      return null;
    } catch (KvException e) {
      return e;
    }
  }

  /// In the order of writing, so that no removal goes before a copy of what it removes.
  private void deleteUnneeded() {
    waitsForSync = false;
    for (int segment : book.unneeded(engine.activeSegment())) {
      writeAnew(segment);
      if (!syncs.secure(book.copiedAt(segment))) {
        waitsForSync = true;
        return;
      }
      if (segment != engine.activeSegment()) {
        engine.delete(segment);
        book.deleted(segment);
      }
    }
  }

  /// Removals that are still needed must not go with their segment.
  private void writeAnew(int segment) {
    List<DeadRecord> needed = book.neededRemovals(segment);
    for (int from = 0; from < needed.size(); from += RecordWriter.REMOVALS) {
      remove(needed.subList(from, Math.min(needed.size(), from + RecordWriter.REMOVALS)));
    }
    if (!needed.isEmpty()) {
      book.removalsCopied(segment, syncs.position());
    }
  }

  /// Whether a segment is only kept until a sync.
  boolean waitsForSync() {
    return waitsForSync;
  }

  private void mark(int enough) {
    if (unmarked.size() < enough) {
      return;
    }
    unmarked.removeIf(dead -> !book.exists(dead.segment())); // gone with its segment
    while (unmarked.size() >= enough) {
      List<DeadRecord> next = unmarked.subList(0, Math.min(unmarked.size(), RecordWriter.REMOVALS));
      remove(next);
      next.clear();
    }
  }

  private void remove(List<DeadRecord> dead) {
    syncs.admit(RecordFormat.removalBytes(dead.size()));
    long number = ++sequence;
    Location at = engine.append(writer.removal(dead.stream().map(DeadRecord::name).toList(), number));
    syncs.appended(at.length());
    dead.forEach(each -> book.removed(each, at.segment()));
  }

  /// Syncs what is left; the last call.
  ///
  /// @return what could not be done, if anything
  @Nullable KvException close() {
    return syncs.close();
  }
}
