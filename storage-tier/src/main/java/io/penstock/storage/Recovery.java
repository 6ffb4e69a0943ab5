package io.penstock.storage;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.SpaceId;
import io.penstock.storage.engine.JournalFormatException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.ScanEnd;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.record.RecordException;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import io.penstock.storage.record.RecordName;
import io.penstock.storage.record.RecordVersionException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Reads a journal at opening: every head and commit mark, and every byte of the newest segment, which a crash may have left half on the
/// medium. Bytes of older segments are compared when they are read.
///
/// The file of a segment may have had an earlier life, whose records lie behind the last one: a record whose sequence is not higher than
/// all before is one of those, and ends its segment.
final class Recovery {
  private final CacheSpace space;
  private final SpaceId spaceId;
  private final SegmentEngine engine;
  private final RecordReader reader;
  private final TreeMap<Long, Found> found = new TreeMap<>();
  private final List<Removal> removals = new ArrayList<>();
  private final List<DeadRecord> dead = new ArrayList<>();
  private final SegmentBook book = new SegmentBook();
  private long sequence;
  /// The rest of this segment is of an earlier life.
  private boolean ended;
  private int dropped;
  private int torn;
  private int freed;

  record Found(Location at, RecordHead head) {}

  private record Removal(RecordName name, int segment) {}

  Recovery(CacheSpace space, SegmentEngine engine, String boundary) {
    this.space = space;
    this.spaceId = space.id();
    this.engine = engine;
    this.reader = new RecordReader(engine, boundary);
  }

  /// @return blocks that count, in the order of writing
  /// @throws JournalFormatException if the journal is of another space
  /// @throws RecordVersionException if a newer release wrote it
  List<Found> run() {
    List<Integer> segments = engine.segments();
    for (int segment : segments) {
      book.found(segment);
      ended = false;
      boolean newest = segment == segments.getLast();
      if (engine.scan(segment, at -> take(at, newest)) == ScanEnd.TORN) {
        torn++;
      }
    }
    applyRemovals();
    keepNewest();
    return List.copyOf(found.values());
  }

  private void take(Location at, boolean newest) {
    if (ended) {
      return;
    }
    RecordHead head;
    try {
      head = reader.finished(at);
      requireSpace(head);
    } catch (RecordVersionException e) {
      throw e;
    } catch (RecordException e) {
      if (!reader.isAside(at)) {
        dropped++; // never finished, or damaged: it was never promised, or cannot be kept
      }
      return;
    }
    ended = head.sequence() <= sequence;
    if (ended) {
      return;
    }
    sequence = head.sequence();
    if (head.kind() == RecordKind.REMOVAL) {
      head.removals().forEach(name -> removals.add(new Removal(name, at.segment())));
    } else {
      take(at, head, newest);
    }
  }

  private void take(Location at, RecordHead head, boolean newest) {
    book.written(at.segment());
    try {
      if (newest) {
        reader.verifyPayload(at, head);
      }
      found.put(head.sequence(), new Found(at, head));
    } catch (BlockCorruptException e) {
      dropped++;
      dead.add(dead(at, head));
    }
  }

  private void requireSpace(RecordHead head) {
    if (!head.key().space().equals(spaceId)) {
      throw new JournalFormatException("space of journal " + engine, spaceId + " of " + space.model(), head.key().space().toString());
    }
    if (head.kind() == RecordKind.BLOCK) {
      head.requireLayout(space.layout());
    }
  }

  private void applyRemovals() {
    for (Removal removal : removals) {
      Found removed = found.get(removal.name().sequence());
      if (removed != null && removed.head().key().equals(removal.name().key())) {
        found.remove(removal.name().sequence());
        book.freed(removed.at().segment());
        book.removed(dead(removed.at(), removed.head()), removal.segment());
        freed++;
      }
    }
  }

  private void keepNewest() {
    Map<BlockKey, Found> newest = new HashMap<>();
    for (Found each : List.copyOf(found.values())) {
      Found older = newest.put(each.head().key(), each);
      if (older != null) {
        found.remove(older.head().sequence());
        dead.add(dead(older.at(), older.head()));
        freed++;
      }
    }
  }

  private static DeadRecord dead(Location at, RecordHead head) {
    return new DeadRecord(new RecordName(head.key(), head.sequence()), at.segment());
  }

  SegmentBook book() {
    return book;
  }

  /// Records that were found and do not count, though no removal says so.
  List<DeadRecord> dead() {
    return dead;
  }

  /// The highest sequence there is.
  long sequence() {
    return sequence;
  }

  JournalRecovery summary() {
    return new JournalRecovery(engine.segments().size(), found.size(), freed, dropped, torn);
  }
}
