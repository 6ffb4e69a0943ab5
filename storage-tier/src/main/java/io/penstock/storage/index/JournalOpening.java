package io.penstock.storage.index;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.SpaceId;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.RecordCheck;
import io.penstock.storage.checkpoint.CheckpointedEngine;
import io.penstock.storage.checkpoint.RecordSummary;
import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineFailure.SegmentUnreadableException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import io.penstock.storage.record.RecordName;
import io.penstock.storage.record.RecordVersionException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Opens a journal: reads the checkpoint of each segment or, without one, walks from head to head. In the newest
/// segments, where a failure of the machine may have left half of the bytes, the walk compares every byte. Other bytes
/// are compared when they are read.
///
/// Damage costs only the blocks that it hits. The opening keeps nothing for a later one.
public final class JournalOpening {
  private static final Logger LOG = Loggers.getLogger(JournalOpening.class);
  /// Bytes to read of each record: the mark of the one before it, and most heads.
  private static final int PIECE_BYTES = 2048;

  private final CacheSpace space;
  private final SpaceId spaceId;
  private final SegmentEngine engine;
  private final String boundary;
  private final @Nullable CheckpointedEngine noting;
  private final int doubtful;
  private final LocationTable locations;
  private final FoundBlocks found;
  private final SegmentIndex index = new SegmentIndex();
  private final List<Damage> damage = new ArrayList<>();
  private final List<BlockKey> damagedKeys = new ArrayList<>();
  private long sequence;
  private int torn;
  private int unfinished;
  private int damaged;
  private int freed;
  private boolean unsynced;

  /// @param doubtful how many of the newest segments may have lost bytes
  public JournalOpening(CacheSpace space, SegmentEngine engine, String boundary, int doubtful) {
    this.space = space;
    this.spaceId = space.id();
    this.engine = engine;
    this.boundary = boundary;
    this.doubtful = doubtful;
    this.locations = new LocationTable(RecordFormat.recordBytes(space.layout()));
    this.found = new FoundBlocks(spaceId, locations);
    this.noting = engine instanceof CheckpointedEngine noted ? noted : null;
  }

  /// @return the blocks
  /// @throws JournalFormatException if the journal is of another space
  /// @throws RecordVersionException if a newer release wrote it
  public FoundBlocks run() {
    List<Integer> segments = engine.segments();
    if (noting != null) {
      noting.checkpoints().retain(segments);
    }
    int sure = segments.size() - doubtful;
    for (int i = 0; i < segments.size(); i++) {
      index.found(segments.get(i));
      open(segments.get(i), i >= sure);
    }
    damagedKeys.removeIf(found::contains);
    if (damaged > 0) {
      LOG.warn("{}: {} records are damaged, and count no more{}", boundary, damaged, firstOf(damage));
    }
    return found;
  }

  private static String firstOf(List<Damage> damage) {
    return damage.isEmpty() ? "" : "; the first: " + damage.getFirst();
  }

  private void open(int segment, boolean isDoubtful) {
    try (SegmentWindow file = engine.window(segment, PIECE_BYTES)) {
      List<RecordSummary> known = noting == null ? null : noting.checkpoints().read(segment);
      boolean isPossible = known != null && isPossible(known);
      if (known != null && isPossible && isBelieved(known, file)) {
        known.forEach(this::count);
      } else {
        visit(segment, file, isDoubtful, isPossible ? known : null);
      }
    }
  }

  private boolean isPossible(List<RecordSummary> known) {
    return !known.isEmpty() && known.stream().allMatch(
        each -> each.key().space().equals(spaceId) && (each.kind() == RecordKind.REMOVAL || locations.fits(each.at())));
  }

  /// Whether the first and the last record of a checkpoint are in the file, and no other record follows. One follows if
  /// the file was cut short when the checkpoint was written, and is whole again.
  private static boolean isBelieved(List<RecordSummary> known, SegmentWindow file) {
    return isThere(known.getFirst(), file) && isThere(known.getLast(), file)
        && !isFollowed(known.getLast().at(), file);
  }

  private static boolean isFollowed(Location last, SegmentWindow file) {
    try {
      RecordCheck records = new RecordCheck(file);
      RecordHead head = records.head(last.offset());
      long behind = last.offset() + last.length() + file.between();
      RecordHead next = records.head(behind);
      return head != null && next != null && next.segment() == head.segment() && records.isMarked(behind, next)
          && records.payload(behind, next) == null;
    } catch (SegmentUnreadableException | RecordVersionException e) {
      return false; // no whole record
    }
  }

  private static boolean isThere(RecordSummary record, SegmentWindow file) {
    try {
      RecordHead head = new RecordCheck(file).head(record.at().offset());
      return head != null && head.crc() == record.crc() && RecordCheck.length(head) == record.at().length();
    } catch (SegmentUnreadableException | RecordVersionException e) {
      return false; // the walk will find out
    }
  }

  private void visit(int segment, SegmentWindow file, boolean isDoubtful, @Nullable List<RecordSummary> known) {
    SegmentVisit visit = new SegmentVisit(segment, file, isDoubtful, this::requireOwn).run();
    List<RecordSummary> whole = visit.whole();
    whole.forEach(this::count);
    sequence = Math.max(sequence, visit.highest());
    damage.addAll(visit.damage());
    damagedKeys.addAll(visit.damagedKeys());
    damaged += known == null ? visit.damage().size() : visit.missing(known);
    unfinished += visit.unfinished();
    torn += visit.isTorn() ? 1 : 0;
    if (visit.isUnreadable()) {
      LOG.warn("{}: the disk does not give all of segment {}: a later opening may find more blocks", boundary, segment);
    }
    if (visit.emptyFrom() >= 0) {
      engine.cut(segment, visit.emptyFrom());
    }
    if (!whole.isEmpty() && noting != null && !visit.isUnreadable()) {
      note(noting, segment, whole, isDoubtful);
    }
  }

  private void note(CheckpointedEngine to, int segment, List<RecordSummary> whole, boolean isDoubtful) {
    if (isDoubtful) {
      to.found(segment, whole); // the last process may not have synced it
      unsynced = true;
    } else {
      to.checkpoints().write(segment, whole, true);
    }
  }

  private void count(RecordSummary record) {
    sequence = Math.max(sequence, record.sequence());
    int segment = record.at().segment();
    if (record.kind() == RecordKind.REMOVAL) {
      record.removals().forEach(name -> removed(name, segment));
    } else if (found.add(record.key(), new RecordLocation(record.at(), record.sequence(), record.crc()))) {
      index.written(segment);
    }
  }

  private void removed(RecordName name, int segment) {
    DeadRecord removed = found.remove(name);
    if (removed != null) {
      index.freed(removed.segment());
      index.removed(removed, segment);
      freed++;
    }
  }

  /// @return false if the block has another shape
  private boolean requireOwn(RecordHead head) {
    if (!head.key().space().equals(spaceId)) {
      throw new JournalFormatException("space of journal " + engine, spaceId + " of " + space.model(),
          head.key().space().toString());
    }
    return head.kind() == RecordKind.REMOVAL || head.isOf(space.layout());
  }

  /// Whether some records may not be on the medium.
  public boolean isUnsynced() {
    return unsynced;
  }

  public SegmentIndex index() {
    return index;
  }

  public LocationTable locations() {
    return locations;
  }

  /// Dead records that no removal names.
  public List<DeadRecord> dead() {
    return found.replaced();
  }

  /// Damaged ranges.
  public List<Damage> damage() {
    return damage;
  }

  /// Blocks with a damaged record, and without a whole one.
  public List<BlockKey> damagedKeys() {
    return damagedKeys;
  }

  /// The highest sequence.
  public long sequence() {
    return sequence;
  }

  public JournalRecovery summary() {
    return new JournalRecovery(engine.segments().size(), found.size(), freed + found.replaced().size(),
        unfinished + damaged, damaged, torn);
  }
}
