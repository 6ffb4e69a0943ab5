package io.penstock.storage.check;

import io.penstock.block.BlockKey;
import io.penstock.storage.checkpoint.RecordSummary;
import io.penstock.storage.engine.EngineFailure.SegmentUnreadableException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.engine.file.JournalFiles;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Compares every byte of one segment.
final class SegmentCheck implements SegmentWalk.Visitor {
  private static final int PAGE_BYTES = 4096;

  private final JournalFiles.Stored stored;
  private final SegmentWindow file;
  private final RecordCheck records;
  private final List<FoundRecord> found = new ArrayList<>();
  private final List<Damage> damage = new ArrayList<>();
  /// Damaged records with a known key.
  private final List<RecordSummary> damaged = new ArrayList<>();
  private List<FoundRecord> own = List.of();
  private boolean isEmptyBehind;

  SegmentCheck(JournalFiles.Stored stored, SegmentWindow file) {
    this.stored = stored;
    this.file = file;
    this.records = new RecordCheck(file);
  }

  /// The check of a segment that is not a file.
  static SegmentCheck noFile(JournalFiles.Stored stored) {
    SegmentCheck check = new SegmentCheck(stored, SegmentWindow.none(stored.path()));
    check.damage.add(Damage.unknown(stored.number(), 0, 0, DamageKind.UNREADABLE,
        "segment must be a file (was a folder, or a link that leads to none)"));
    return check;
  }

  SegmentCheck run() {
    try {
      file.bytes(0, (int) Math.min(file.start(), file.size()));
    } catch (SegmentUnreadableException e) {
      unreadable(e.offset(), e);
    }
    try {
      new SegmentWalk(file, this).run();
    } catch (SegmentUnreadableException e) {
      unreadable(e.offset(), file.size() - e.offset(), e);
    }
    own = FoundRecord.ofSegment(found, file, stored.number());
    if (own.stream().anyMatch(each -> each.segment() != stored.number())) {
      damage.add(Damage.unknown(stored.number(), 0, file.size(), DamageKind.MISPLACED,
          "file must hold segment %d (holds %d)".formatted(stored.number(), own.getFirst().segment())).withLive(false));
    }
    tellOwn();
    tellOthers();
    return this;
  }

  /// One past the last record of the segment.
  private long end() {
    return own.isEmpty() ? file.start() : own.getLast().end();
  }

  private void tellOwn() {
    long highest = 0;
    for (int i = 0; i < own.size(); i++) {
      FoundRecord each = own.get(i);
      long sequence = each.summary().sequence();
      long next = i + 1 < own.size() ? own.get(i + 1).summary().sequence() : Long.MAX_VALUE;
      if (sequence <= highest || (sequence >= next && highest < next)) {
        tell(each, DamageKind.MISPLACED, "sequence must be in (%d, %d) (was %d)".formatted(highest, next, sequence));
      } else {
        highest = sequence;
      }
      tellDifference(each, i == own.size() - 1);
    }
  }

  private void tellDifference(FoundRecord of, boolean isLast) {
    RecordCheck.Difference difference = of.difference();
    if (difference != null && isLast && !of.isFinished()) {
      damage.add(Damage.unknown(stored.number(), of.offset(), file.size() - of.offset(), DamageKind.TORN,
          "the last record must be finished (was not)"));
    } else if (difference != null) {
      Location at = of.summary().at();
      BlockKey key = of.key();
      damage.add(new Damage(at.segment(), at.offset(), at.length(), difference.kind(),
          key == null ? null : key.toString(), of.summary().sequence(), difference.granule(), true,
          difference.reason()));
      if (key != null) {
        damaged.add(of.summary());
      }
    }
  }

  private void tell(FoundRecord of, DamageKind kind, String reason) {
    Location at = of.summary().at();
    damage.add(Damage.unknown(at.segment(), at.offset(), at.length(), kind, reason)
        .withName(of.key(), of.summary().sequence()).withLive(false));
  }

  /// Behind the last record of the segment may lie records of an earlier life of the file; in front of it nothing else
  /// may lie.
  private void tellOthers() {
    long end = end();
    damage.removeIf(each -> each.kind() == DamageKind.HEAD && each.offset() >= end);
    found.stream().filter(each -> own.size() < found.size() && each.offset() < end
        && each.segment() != own.getFirst().segment()).forEach(
            each -> tell(each, DamageKind.MISPLACED,
                "record must be of segment %d (was of %d)".formatted(stored.number(), each.segment())));
    boolean isOther = found.stream().anyMatch(each -> each.offset() >= end);
    boolean isTold = !own.isEmpty() && own.getLast().difference() != null && !own.getLast().isFinished();
    if (!isTold && !isUnreadable(end, file.size()) && !isOther && !isEmptyBehind && end < file.size() && !isEnd(end)) {
      damage.add(Damage.unknown(stored.number(), end, file.size() - end, DamageKind.TORN,
          "nothing must follow the last record (was something)"));
    }
  }

  private boolean isUnreadable(long from, long to) {
    return damage.stream().anyMatch(
        each -> each.kind() == DamageKind.UNREADABLE && each.offset() >= from && each.offset() < to);
  }

  private boolean isEnd(long at) {
    try {
      return file.isEnd(at);
    } catch (SegmentUnreadableException e) {
      return true; // reported before
    }
  }

  @Override
  public boolean record(long at, RecordHead head) {
    RecordCheck.Difference difference = records.difference(at, head);
    boolean isFinished = difference == null || difference.kind() != DamageKind.PAYLOAD || records.isMarked(at, head);
    Location where = new Location(stored.number(), at, RecordCheck.length(head));
    found.add(new FoundRecord(RecordSummary.of(where, head), head.segment(), difference, isFinished));
    return isFinished;
  }

  @Override
  public void broken(long from, long to) {
    boolean isTold = !found.isEmpty() && from < found.getLast().end(); // reported with the unfinished record
    long begin = isTold ? Math.min(to, found.getLast().end()) : from;
    if (to - begin > file.between() && !isUnreadable(begin, to)) {
      damage.add(Damage.unknown(stored.number(), begin, to - begin, DamageKind.HEAD,
          "a record must begin here (did not)"));
    }
  }

  @Override
  public void unreadable(long at, SegmentUnreadableException why) {
    unreadable(at, PAGE_BYTES - at % PAGE_BYTES, why);
  }

  private void unreadable(long at, long length, SegmentUnreadableException why) {
    damage.add(Damage.unknown(stored.number(), at, length, DamageKind.UNREADABLE, String.valueOf(why.getMessage())));
  }

  @Override
  public void end(long from, boolean isEmpty) {
    isEmptyBehind = isEmpty;
  }

  /// Compares with the checkpoint of the segment; null if that is damaged.
  void compare(@Nullable List<RecordSummary> known) {
    if (known == null) {
      damage.add(Damage.unknown(stored.number(), 0, 0, DamageKind.CHECKPOINT, "checkpoint must match its crc (did not)")
          .withLive(false));
      return;
    }
    Set<RecordSummary> there = new HashSet<>();
    own.forEach(each -> there.add(each.summary()));
    known.stream().filter(each -> !there.contains(each)).forEach(this::missing);
  }

  private void missing(RecordSummary record) {
    boolean isExplained = false;
    for (int i = 0; i < damage.size(); i++) {
      Damage each = damage.get(i);
      boolean isUnknown = each.kind() == DamageKind.HEAD || each.kind() == DamageKind.TORN
          || each.kind() == DamageKind.UNREADABLE;
      long from = record.at().offset();
      if (isUnknown && from < each.offset() + each.length() && from + record.at().length() > each.offset()) {
        isExplained = true;
        if (each.kind() == DamageKind.HEAD && each.key() == null && record.kind() == RecordKind.BLOCK) {
          damaged.add(record);
          damage.set(i, each.withName(record.key(), record.sequence()));
        }
      }
    }
    if (!isExplained) {
      Location at = record.at();
      damaged.add(record);
      damage.add(Damage.unknown(at.segment(), at.offset(), at.length(), DamageKind.MISSING,
          "record of the checkpoint must be here (was not)")
          .withName(record.kind() == RecordKind.BLOCK ? record.key() : null, record.sequence()));
    }
  }

  /// Adds the records to `inventory`.
  void addTo(Inventory inventory) {
    // Checked first: a removal in this segment may name one
    damaged.stream().filter(each -> each.kind() == RecordKind.BLOCK)
        .forEach(each -> inventory.addDamaged(each.key(), each.sequence()));
    own.stream().filter(FoundRecord::isGood).forEach(each -> inventory.add(each.summary()));
  }

  int segment() {
    return stored.number();
  }

  List<Damage> damage() {
    return damage;
  }

  /// The report of the segment. Every block counts as live at first.
  SegmentReport report(Path directory) {
    long torn = damage.stream().filter(each -> each.kind() == DamageKind.TORN).count();
    List<FoundRecord> good = own.stream().filter(FoundRecord::isGood).toList();
    long removals = good.stream().filter(each -> each.summary().kind() == RecordKind.REMOVAL).count();
    return new SegmentReport(segment(), directory.relativize(stored.path()).toString(), file.size(), good.size(),
        good.size() - removals, 0, removals, damage.size() - torn, torn);
  }
}
