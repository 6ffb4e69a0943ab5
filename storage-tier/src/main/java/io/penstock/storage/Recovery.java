package io.penstock.storage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.block.SpaceId;
import io.penstock.storage.checkpoint.CheckpointedEngine;
import io.penstock.storage.checkpoint.Noted;
import io.penstock.storage.engine.JournalFormatException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.ScanEnd;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.record.RecordException;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import io.penstock.storage.record.RecordName;
import io.penstock.storage.record.RecordVersionException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Reads a journal at opening: the checkpoint of each segment or, where there is none to be believed, every head and
/// commit mark. In the newest segments, as many as a failure of the machine may have left half on the medium, also
/// every byte of those without a checkpoint. Other bytes are compared when they are read.
///
/// The file of a segment may have had an earlier life, whose records lie behind the last one: a record whose sequence
/// is not higher than all before is one of those, and ends its segment.
final class Recovery {
  private static final Logger LOG = Loggers.getLogger(Recovery.class);

  private final CacheSpace space;
  private final SpaceId spaceId;
  private final SegmentEngine engine;
  private final RecordReader reader;
  private final String boundary;
  private final @Nullable CheckpointedEngine noting;
  private final @Nullable BelievedCheckpoints believed;
  private final int doubtful;
  private final PlaceTable places;
  private final FoundBlocks found;
  private final List<DeadRecord> dead = new ArrayList<>();
  private final SegmentBook book = new SegmentBook();
  private final DroppedRecords dropped;
  private final HiddenRecords hidden;
  private final MissingRecords missing = new MissingRecords();
  private long sequence;
  /// The rest of this segment is of an earlier life.
  private boolean ended;
  private int torn;
  private int freed;
  private boolean unsynced;

  /// @param doubtful how many of the newest segments may have bytes that never got to the medium
  /// @param mostDamaged records that are listed in [#dropped]
  Recovery(CacheSpace space, SegmentEngine engine, String boundary, int doubtful, int mostDamaged) {
    this.space = space;
    this.spaceId = space.id();
    this.engine = engine;
    this.places = new PlaceTable(RecordFormat.recordBytes(space.layout()));
    this.found = new FoundBlocks(spaceId, places);
    this.reader = new RecordReader(engine, boundary);
    this.dropped = new DroppedRecords(reader, RecordFormat.headBytes(space.layout()),
        RecordFormat.recordBytes(space.layout()), mostDamaged);
    this.hidden = new HiddenRecords(engine);
    this.boundary = boundary;
    this.noting = engine instanceof CheckpointedEngine noted ? noted : null;
    this.believed = noting == null ? null : new BelievedCheckpoints(noting.checkpoints(), spaceId, places, reader);
    this.doubtful = doubtful;
  }

  /// @return blocks that count
  /// @throws JournalFormatException if the journal is of another space
  /// @throws RecordVersionException if a newer release wrote it
  FoundBlocks run() {
    List<Integer> segments = engine.segments();
    if (noting != null) {
      noting.checkpoints().retain(segments);
    }
    int sure = segments.size() - doubtful;
    for (int i = 0; i < segments.size(); i++) {
      int segment = segments.get(i);
      book.found(segment);
      BelievedCheckpoints.Named known = believed == null ? BelievedCheckpoints.NOTHING : believed.of(segment, sequence);
      if (known.isBelieved()) {
        known.records().forEach(this::count);
      } else {
        visit(segment, i >= sure, known.records());
      }
    }
    found.keepNewest(older -> {
      dead.add(older);
      freed++;
    });
    if (dropped.dropped() > 0) {
      LOG.warn("{}: {}", boundary, dropped);
    }
    problems().forEach(each -> LOG.warn("{}: {}", boundary, each));
    return found;
  }

  /// @param named by its checkpoint
  private void visit(int segment, boolean isDoubtful, List<Noted> named) {
    List<Noted> visited = new ArrayList<>();
    int before = dropped.dropped();
    ended = false;
    hidden.visit(segment);
    missing.visit(named);
    ScanEnd end = engine.scan(segment, at -> take(at, isDoubtful, visited));
    boolean hides = hidden.left(sequence);
    if (hides) {
      book.keep(segment);
    }
    missing.left(hides);
    if (end != ScanEnd.CLEAN) {
      torn++;
      dropped.breaksOff();
      return;
    }
    dropped.follows();
    if (!hides && !hidden.isAlone() && before == dropped.dropped() && !visited.isEmpty()) {
      note(segment, visited, isDoubtful);
    }
  }

  private void note(int segment, List<Noted> visited, boolean isDoubtful) {
    if (noting != null && isDoubtful) {
      noting.found(segment, visited); // a process that ended may have left it to the system
      unsynced = true;
    } else if (noting != null) {
      noting.checkpoints().write(segment, visited, true);
    }
  }

  private void take(Location at, boolean isDoubtful, List<Noted> visited) {
    missing.met(at);
    if (ended) {
      return;
    }
    RecordHead head = null;
    try {
      head = reader.head(at);
      requireSpace(head);
    } catch (RecordVersionException e) {
      throw e;
    } catch (RecordException e) {
      dropped.bad(at, head, e);
      if (hidden.hides(at, sequence)) {
        dropped.breaksOff();
      }
      return;
    }
    hidden.passed(at, sequence);
    ended = head.sequence() <= sequence;
    if (ended) {
      dropped.breaksOff();
    } else {
      take(Noted.of(at, head), head, isDoubtful, visited);
    }
  }

  /// A record without its mark counts if every byte of it is right: it is the mark that is damaged, or nothing else was
  /// left to be written.
  private void take(Noted noted, RecordHead head, boolean isDoubtful, List<Noted> visited) {
    dropped.follows();
    boolean isFinished = reader.isFinished(noted.at(), head);
    boolean isCompared = (isDoubtful || !isFinished) && head.kind() == RecordKind.BLOCK;
    Flaw flaw = isCompared ? reader.flaw(noted.at(), head) : null;
    if (flaw != null && !isFinished) {
      dropped.unfinished(); // it was never promised
      return;
    }
    count(noted);
    visited.add(noted);
    if (flaw != null) {
      dead.add(
          requireNonNull(found.remove(new RecordName(noted.key(), noted.sequence())), "a record that was just found"));
      dropped.payload(noted, head, flaw);
    }
  }

  private void count(Noted record) {
    sequence = record.sequence();
    if (record.kind() == RecordKind.REMOVAL) {
      record.removals().forEach(name -> removed(name, record.at().segment()));
    } else {
      dropped.written(record.key());
      missing.written(record.key());
      book.written(record.at().segment());
      found.add(record.key(), new Place(record.at(), record.sequence(), record.crc()));
    }
  }

  /// What is removed was found before: it has a lower sequence.
  private void removed(RecordName name, int segment) {
    DeadRecord removed = found.remove(name);
    dropped.removed(name);
    missing.removed(name);
    if (removed != null) {
      book.freed(removed.segment());
      book.removed(removed, segment);
      freed++;
    } else if (hidden.holder(name.sequence()) > 0) { // then a repair brings it back
      book.removed(new DeadRecord(name, hidden.holder(name.sequence())), segment);
    }
  }

  private void requireSpace(RecordHead head) {
    if (!head.key().space().equals(spaceId)) {
      throw new JournalFormatException("space of journal " + engine, spaceId + " of " + space.model(),
          head.key().space().toString());
    }
    if (head.kind() == RecordKind.BLOCK) {
      head.requireLayout(space.layout());
    }
  }

  /// Whether something that counts may not be on the medium.
  boolean isUnsynced() {
    return unsynced;
  }

  SegmentBook book() {
    return book;
  }

  PlaceTable places() {
    return places;
  }

  /// Records that were found and do not count, though no removal says so.
  List<DeadRecord> dead() {
    return dead;
  }

  /// What there is to be done about what was found, or to be known of it, in words.
  List<String> problems() {
    return Stream.concat(Stream.ofNullable(hidden.problem()), Stream.ofNullable(missing.problem())).toList();
  }

  /// What does not count.
  DroppedRecords dropped() {
    return dropped;
  }

  /// The highest sequence there is, of what is hidden, too: all of the newest runs may be.
  long sequence() {
    return Math.max(sequence, hidden.highest());
  }

  JournalRecovery summary() {
    return new JournalRecovery(engine.segments().size(), found.size(), freed, dropped.dropped(), dropped.damaged(),
        torn, hidden.segments(), missing.count());
  }
}
