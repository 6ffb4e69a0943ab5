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

/// What an opening finds in one segment without a checkpoint. One thread.
///
/// A file that is written anew holds records of the segment that it was before, behind those of its own: each record
/// says which segment it was written to. Where none says so of this file, it was renamed, and all of them count.
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

  /// @param segment that it was written to
  private record Found(RecordSummary noted, int segment, State state, String reason, int granule) {}

  /// @param isDoubtful whether bytes of it may have got lost when the machine failed
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
    damage.removeIf(each -> each.offset() >= end); // what a stop leaves, or the file held before
    for (int i = 0; i < found.size(); i++) {
      judge(found.get(i), i == found.size() - 1);
    }
    whole = found.stream().filter(each -> each.state() == State.WHOLE).map(Found::noted)
        .sorted(Comparator.comparingLong(RecordSummary::sequence)).toList();
    return this;
  }

  /// Which segment the file holds; 0 if it may be any.
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
      unfinished++; // a stop in the midst of a record leaves it so
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
      return records.isMarked(at, head); // else its length may be anything
    }
    RecordSummary noted = RecordSummary.of(new Location(segment, at, RecordCheck.length(head)), head);
    try {
      return compared(noted, at, head);
    } catch (SegmentUnreadableException e) { // the head is whole: a reader compares the rest
      found.add(new Found(noted, head.segment(), State.WHOLE, "", -1));
      throw e;
    }
  }

  /// A record of another space behind one of this journal's is a payload's bytes.
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
    // A record without its mark counts if every byte of it is right: nothing but the mark is damaged
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

  /// Whole records, by their sequences.
  List<RecordSummary> whole() {
    return whole;
  }

  /// The highest sequence, of damaged ones, too.
  long highest() {
    return highest;
  }

  List<Damage> damage() {
    return damage;
  }

  /// Blocks that were found damaged.
  List<BlockKey> damagedKeys() {
    return damagedKeys;
  }

  /// How many blocks that a checkpoint names are not there.
  int missing(List<RecordSummary> known) {
    Set<Long> there = new HashSet<>();
    whole.forEach(each -> there.add(each.sequence()));
    return (int) known.stream().filter(each -> each.kind() == RecordKind.BLOCK && !there.contains(each.sequence()))
        .count();
  }

  /// Records that a stop left half written.
  int unfinished() {
    return unfinished;
  }

  /// Whether bytes that belong to no record follow the last one.
  boolean isTorn() {
    return isTorn;
  }

  /// Whether the medium did not give some of it.
  boolean isUnreadable() {
    return isUnreadable;
  }

  /// Where the empty rest of the file begins; below 0 if there is none.
  long emptyFrom() {
    return emptyFrom;
  }
}
