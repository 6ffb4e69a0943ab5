package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.DamageKind;
import io.penstock.storage.check.RecordCheck;
import io.penstock.storage.check.SegmentWalk;
import io.penstock.storage.checkpoint.RecordSummary;
import io.penstock.storage.engine.JournalFormatException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentUnreadableException;
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
///
/// A file that is written anew holds older records behind the new ones. Each record names its segment. If no record
/// names this one, the file was renamed, and all records count.
final class SegmentVisit implements SegmentWalk.Visitor {
  private final int segment;
  private final SegmentWindow file;
  private final RecordCheck records;
  private final boolean isDoubtful;
  private final Predicate<RecordHead> isOwn;
  private final List<Found> found = new ArrayList<>();
  private final List<Damage> damage = new ArrayList<>();
  private final List<BlockKey> damagedKeys = new ArrayList<>();
  private List<RecordSummary> whole = List.of();
  private long highest;
  private int unfinished;
  private boolean isUnreadable;
  private long emptyFrom = -1;
  private boolean isTorn;

  private enum State {
    WHOLE, DAMAGED, UNFINISHED
  }

  /// @param segment that the record names
  private record Found(RecordSummary noted, int segment, State state, String reason, int granule) {}

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
    int life = life();
    long last = found.isEmpty() ? 0 : found.getLast().noted().at().offset();
    found.removeIf(each -> life != 0 && each.segment() != life);
    long end = found.isEmpty() ? 0 : found.getLast().noted().at().offset();
    isTorn &= last == end;
    damage.removeIf(each -> each.offset() >= end); // left by a stop, or by an earlier life of the file
    for (int i = 0; i < found.size(); i++) {
      judge(found.get(i), i == found.size() - 1);
    }
    whole = found.stream().filter(each -> each.state() == State.WHOLE).map(Found::noted)
        .sorted(Comparator.comparingLong(RecordSummary::sequence)).toList();
    return this;
  }

  /// The segment that the file holds; 0 if any may be.
  private int life() {
    if (file.number() > 0) {
      return file.number();
    }
    return found.stream().anyMatch(each -> each.segment() == segment) ? segment : 0;
  }

  private void judge(Found record, boolean isLast) {
    Location at = record.noted().at();
    highest = Math.max(highest, record.noted().sequence());
    if (record.state() == State.UNFINISHED && isLast) {
      unfinished++; // a stop in the middle of a record
      isTorn = true;
    } else if (record.state() != State.WHOLE) {
      damagedKeys.add(record.noted().key());
      damage.add(new Damage(segment, at.offset(), at.length(), DamageKind.PAYLOAD, record.noted().key().toString(),
          record.noted().sequence(), record.granule(), true, record.reason()));
    }
  }

  @Override
  public boolean record(long at, RecordHead head) {
    if (!isOwn(head)) {
      return records.isMarked(at, head); // without its mark, its length may be wrong
    }
    RecordSummary noted = RecordSummary.of(new Location(segment, at, RecordCheck.length(head)), head);
    try {
      return compared(noted, at, head);
    } catch (SegmentUnreadableException e) { // a reader will compare the rest
      found.add(new Found(noted, head.segment(), State.WHOLE, "", -1));
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

  private boolean compared(RecordSummary noted, long at, RecordHead head) {
    // A record without its mark counts if every other byte is right
    boolean isMarked = records.isMarked(at, head);
    boolean isCompared = head.kind() == RecordKind.BLOCK && (isDoubtful || !isMarked);
    RecordCheck.Difference difference = isCompared ? records.payload(at, head) : null;
    State state = difference == null ? State.WHOLE : isMarked ? State.DAMAGED : State.UNFINISHED;
    found.add(new Found(noted, head.segment(), state, difference == null ? "" : difference.reason(),
        difference == null ? -1 : difference.granule()));
    return state != State.UNFINISHED;
  }

  @Override
  public void broken(long from, long to) {
    boolean isOfUnfinished = !found.isEmpty() && found.getLast().state() == State.UNFINISHED;
    if (!isOfUnfinished) {
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

  /// How many blocks of a checkpoint are missing.
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

  /// Where only zeros follow; below 0 if nowhere.
  long emptyFrom() {
    return emptyFrom;
  }
}
