package io.penstock.storage.check;

import io.penstock.storage.checkpoint.Noted;
import io.penstock.storage.engine.JournalFiles;
import io.penstock.storage.engine.Location;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What was found in one segment.
final class SegmentTally implements SegmentWalk.Visitor {
  private final JournalFiles.Stored stored;
  private final long bytes;
  private final int frame;
  private final List<Damage> damage = new ArrayList<>();
  /// Records with a good head, in the order of the file.
  private final List<Noted> heads = new ArrayList<>();
  /// Those of them that are good to their end.
  private final List<Noted> good = new ArrayList<>();
  /// Damaged blocks, of which the key is known.
  private final List<Noted> damaged = new ArrayList<>();
  private long removals;
  private long aside;
  private long first;
  private long highest;
  private boolean isAtNext;

  /// @param frame bytes before each record
  SegmentTally(JournalFiles.Stored stored, long bytes, int frame) {
    this.stored = stored;
    this.bytes = bytes;
    this.frame = frame;
  }

  @Override
  public void record(Location at, RecordHead head, RecordCheck.@Nullable Flaw flaw) {
    Noted noted = Noted.of(at, head);
    heads.add(noted);
    if (flaw == null || flaw.kind() == DamageKind.PADDING) {
      good.add(noted);
      removals += noted.kind() == RecordKind.REMOVAL ? 1 : 0;
    }
    if (flaw != null) {
      Damage found = new Damage(segment(), at.offset() - frame, frame + (long) at.length(), flaw.kind(), null,
          head.sequence(), flaw.granule(),
          true, flaw.reason());
      damage.add(head.kind() == RecordKind.BLOCK ? named(found, noted) : found);
    }
  }

  @Override
  public void damaged(long offset, long length, DamageKind kind, String reason) {
    damage.add(Damage.unknown(segment(), offset, length, kind, reason));
  }

  @Override
  public void aside(long length) {
    aside += length;
  }

  /// The walk came to its end.
  void walked(SegmentWalk walk) {
    first = walk.first();
    highest = walk.highest();
    isAtNext = walk.isAtNext();
  }

  /// Whether the walk came to where the next part begins, and ended there.
  boolean isAtNext() {
    return isAtNext;
  }

  /// Whether `next`, which begins there, is what this walk would have found.
  boolean isFollowedBy(SegmentTally next) {
    return next.first > highest;
  }

  /// Adds what was found behind this.
  void append(SegmentTally next) {
    damage.addAll(next.damage);
    heads.addAll(next.heads);
    good.addAll(next.good);
    damaged.addAll(next.damaged);
    removals += next.removals;
    aside += next.aside;
    first = first == 0 ? next.first : first;
    highest = next.highest;
  }

  /// Whether all this holds although earlier segments have sequences up to `before`, of which the walk did not know.
  boolean holdsAfter(long before) {
    return first == 0 || first > before;
  }

  /// The highest sequence of this segment and of what the walk knew of.
  long highest() {
    return highest;
  }

  /// Compares with a checkpoint of the segment; null if it cannot be believed.
  void compare(@Nullable List<Noted> known) {
    if (known == null) {
      damage.add(Damage.unknown(segment(), 0, 0, DamageKind.CHECKPOINT, "checkpoint must match its crc (did not)")
          .withLive(false));
      return;
    }
    int next = 0;
    for (Noted each : known) {
      while (next < heads.size() && heads.get(next).at().offset() < each.at().offset()) {
        next++;
      }
      if (next == heads.size() || heads.get(next).at().offset() != each.at().offset()
          || heads.get(next).crc() != each.crc()) {
        missing(each);
      }
    }
  }

  private void missing(Noted record) {
    long from = record.at().offset() - frame;
    long to = record.at().offset() + record.at().length();
    boolean explained = false;
    for (int i = 0; i < damage.size(); i++) {
      Damage each = damage.get(i);
      if (each.touches(from, to)) {
        explained |= each.key() == null || each.sequence() == record.sequence();
        boolean alone = each.offset() == from && each.kind() != DamageKind.TORN && each.kind() != DamageKind.UNREADABLE;
        if (alone && each.key() == null && record.kind() == RecordKind.BLOCK) {
          damage.set(i, named(each, record));
        }
      }
    }
    if (!explained) {
      Damage found = Damage.unknown(segment(), from, to - from, DamageKind.MISSING,
          "record of the checkpoint must be here (was not)");
      damage.add(record.kind() == RecordKind.BLOCK ? named(found, record) : found);
    }
  }

  private Damage named(Damage of, Noted record) {
    damaged.add(record);
    return of.withName(record.key(), record.sequence());
  }

  /// Adds what was found to that of earlier segments.
  void addTo(Inventory inventory) {
    // First: a record of the same segment may remove it
    damaged.forEach(each -> inventory.addDamaged(each.key(), each.sequence()));
    good.forEach(inventory::add);
  }

  int segment() {
    return stored.number();
  }

  List<Damage> damage() {
    return damage;
  }

  /// What there is to say of the segment but for which blocks count; each is called live.
  SegmentReport report(Path directory) {
    long torn = damage.stream().filter(each -> each.kind() == DamageKind.TORN).count();
    return new SegmentReport(segment(), directory.relativize(stored.path()).toString(), bytes, good.size(),
        good.size() - removals, 0, removals,
        damage.size() - torn, torn, aside);
  }
}
