package io.penstock.storage.check;

import io.penstock.storage.checkpoint.Noted;
import io.penstock.storage.engine.JournalFiles;
import io.penstock.storage.engine.Location;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What was found in one segment.
final class SegmentTally implements SegmentWalk.Visitor {
  private final JournalFiles.Stored stored;
  private final long bytes;
  private final int frame;
  private final Inventory inventory;
  private final List<Damage> damage = new ArrayList<>();
  /// CRC of each head, by the offset of its record.
  private final Map<Long, Integer> heads = new HashMap<>();
  private long aside;

  /// @param frame bytes before each record
  SegmentTally(JournalFiles.Stored stored, long bytes, int frame, Inventory inventory) {
    this.stored = stored;
    this.bytes = bytes;
    this.frame = frame;
    this.inventory = inventory;
  }

  @Override
  public void record(Location at, RecordHead head, RecordCheck.@Nullable Flaw flaw) {
    heads.put(at.offset(), head.crc());
    if (flaw == null || flaw.kind() == DamageKind.PADDING) {
      inventory.add(at.segment(), head);
    }
    if (flaw != null) {
      Damage found = new Damage(segment(), at.offset() - frame, frame + (long) at.length(), flaw.kind(), null, head.sequence(), flaw.granule(),
          true, flaw.reason());
      damage.add(head.kind() == RecordKind.BLOCK ? named(found, Noted.of(at, head)) : found);
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

  /// Compares with a checkpoint of the segment; null if it cannot be believed.
  void compare(@Nullable List<Noted> known) {
    if (known == null) {
      damage.add(Damage.unknown(segment(), 0, 0, DamageKind.CHECKPOINT, "checkpoint must match its crc (did not)").withLive(false));
      return;
    }
    for (Noted each : known) {
      if (heads.getOrDefault(each.at().offset(), ~each.crc()) != each.crc()) {
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
        boolean alone = each.offset() == from && each.kind() != DamageKind.TORN;
        if (alone && each.key() == null && record.kind() == RecordKind.BLOCK) {
          damage.set(i, named(each, record));
        }
      }
    }
    if (!explained) {
      Damage found = Damage.unknown(segment(), from, to - from, DamageKind.MISSING, "record of the checkpoint must be here (was not)");
      damage.add(record.kind() == RecordKind.BLOCK ? named(found, record) : found);
    }
  }

  private Damage named(Damage of, Noted record) {
    inventory.addDamaged(record.key(), record.sequence());
    return of.withName(record.key(), record.sequence());
  }

  int segment() {
    return stored.number();
  }

  List<Damage> damage() {
    return damage;
  }

  SegmentReport report(Path directory, long live, long dead) {
    long removals = inventory.removals(segment());
    long torn = damage.stream().filter(each -> each.kind() == DamageKind.TORN).count();
    return new SegmentReport(segment(), directory.relativize(stored.path()).toString(), bytes, live + dead + removals, live, dead, removals,
        damage.size() - torn, torn, aside);
  }
}
