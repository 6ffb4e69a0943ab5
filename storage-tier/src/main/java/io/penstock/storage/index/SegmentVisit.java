package io.penstock.storage.index;

import io.penstock.block.BlockKey;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.DamageKind;
import io.penstock.storage.check.FoundRecord;
import io.penstock.storage.check.RecordCheck;
import io.penstock.storage.check.SegmentWalk;
import io.penstock.storage.checkpoint.RecordSummary;
import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineFailure.SegmentUnreadableException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/// Walks one segment for an opening. One thread.
final class SegmentVisit implements SegmentWalk.Visitor {
  private final int segment;
  private final SegmentWindow file;
  private final RecordCheck records;
  private final boolean isDoubtful;
  private final Predicate<RecordHead> isOwn;
  private final List<FoundRecord> found = new ArrayList<>();
  private final List<Damage> damage = new ArrayList<>();
  private final List<BlockKey> damagedKeys = new ArrayList<>();
  private List<RecordSummary> whole = List.of();
  private long highest;
  private int unfinished;
  private boolean isUnreadable;
  private long emptyFrom = -1;
  private boolean isTorn;

  /// @param isDoubtful whether a failure of the machine may have taken bytes
  /// @param isOwn whether a head is of a block of this journal's shape
  SegmentVisit(int segment, SegmentWindow file, boolean isDoubtful, Predicate<RecordHead> isOwn) {
    this.segment = segment;
    this.file = file;
    this.records = new RecordCheck(file);
    this.isDoubtful = isDoubtful;
    this.isOwn = isOwn;
  }

  SegmentVisit run() {
    new SegmentWalk(file, this).run();
    List<FoundRecord> own = FoundRecord.ofSegment(found, file, segment);
    long last = found.isEmpty() ? 0 : found.getLast().offset();
    long end = own.isEmpty() ? 0 : own.getLast().offset();
    isTorn &= last == end;
    damage.removeIf(each -> each.offset() >= end); // left by a stop, or by an earlier life of the file
    for (int i = 0; i < own.size(); i++) {
      judge(own.get(i), i == own.size() - 1);
    }
    whole = own.stream().filter(each -> each.difference() == null).map(FoundRecord::summary)
        .sorted(Comparator.comparingLong(RecordSummary::sequence)).toList();
    return this;
  }

  private void judge(FoundRecord record, boolean isLast) {
    RecordSummary summary = record.summary();
    RecordCheck.Difference difference = record.difference();
    highest = Math.max(highest, summary.sequence());
    if (!record.isFinished() && isLast) {
      unfinished++; // a stop in the middle of a record
      isTorn = true;
    } else if (difference != null) {
      damagedKeys.add(summary.key());
      damage.add(new Damage(segment, record.offset(), summary.at().length(), DamageKind.PAYLOAD,
          summary.key().toString(), summary.sequence(), difference.granule(), true, difference.reason()));
    }
  }

  @Override
  public boolean record(long at, RecordHead head) {
    if (!isOwn(head)) {
      return records.isMarked(at, head); // without its mark, its length may be wrong
    }
    RecordSummary summary = RecordSummary.of(new Location(segment, at, RecordCheck.length(head)), head);
    try {
      found.add(compared(summary, at, head));
      return found.getLast().isFinished();
    } catch (SegmentUnreadableException e) { // a reader will compare the rest
      found.add(new FoundRecord(summary, head.segment(), null, true));
      throw e;
    }
  }

  /// A head of another space behind a record of this journal is part of a payload.
  private boolean isOwn(RecordHead head) {
    try {
      return isOwn.test(head);
    } catch (JournalFormatException e) {
      if (found.isEmpty()) {
        throw e;
      }
      return false;
    }
  }

  private FoundRecord compared(RecordSummary summary, long at, RecordHead head) {
    // A record without its mark counts if every other byte is right
    boolean isMarked = records.isMarked(at, head);
    boolean isCompared = head.kind() == RecordKind.BLOCK && (isDoubtful || !isMarked);
    RecordCheck.Difference difference = isCompared ? records.payload(at, head) : null;
    return new FoundRecord(summary, head.segment(), difference, isMarked || difference == null);
  }

  @Override
  public void broken(long from, long to) {
    if (found.isEmpty() || found.getLast().isFinished()) {
      damage.add(Damage.unknown(segment, from, to - from, DamageKind.HEAD, "a record must begin here (did not)"));
    }
  }

  @Override
  public void unreadable(long at, SegmentUnreadableException why) {
    isUnreadable = true;
  }

  @Override
  public void end(long from, boolean isEmpty) {
    if (isEmpty) {
      emptyFrom = from;
    } else {
      isTorn = !file.isEnd(from);
    }
  }

  /// Whole records in the order of their sequences.
  List<RecordSummary> whole() {
    return whole;
  }

  /// The highest sequence, also of damaged records.
  long highest() {
    return highest;
  }

  List<Damage> damage() {
    return damage;
  }

  /// Damaged blocks.
  List<BlockKey> damagedKeys() {
    return damagedKeys;
  }

  /// Number of blocks of a checkpoint that are missing.
  int missing(List<RecordSummary> known) {
    Set<Long> there = new HashSet<>();
    whole.forEach(each -> there.add(each.sequence()));
    return (int) known.stream().filter(each -> each.kind() == RecordKind.BLOCK && !there.contains(each.sequence()))
        .count();
  }

  /// Unfinished records.
  int unfinished() {
    return unfinished;
  }

  /// Whether other bytes follow the last record.
  boolean isTorn() {
    return isTorn;
  }

  /// Whether the medium failed to give some bytes.
  boolean isUnreadable() {
    return isUnreadable;
  }

  /// Offset from which only zeros follow; below 0 if nowhere.
  long emptyFrom() {
    return emptyFrom;
  }
}
