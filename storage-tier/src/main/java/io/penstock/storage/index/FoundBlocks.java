package io.penstock.storage.index;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.storage.record.RecordName;
import io.penstock.storage.record.RecordNames;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Collects the blocks that an opening finds: of each block the newest record. One thread.
public final class FoundBlocks {
  private final SpaceId space;
  private final LocationTable locations;
  private final RecordNames names = new RecordNames();
  /// Older records of blocks, by their sequences. The newest of these counts again when a removal names the record that
  /// replaced it.
  private final Map<BlockKey, NavigableMap<Long, RecordLocation>> replaced = new HashMap<>();

  /// Takes over blocks one by one.
  @FunctionalInterface
  public interface Taker {
    /// @param number of the block in the [LocationTable], now the taker's
    void take(BlockKey key, int number);
  }

  FoundBlocks(SpaceId space, LocationTable locations) {
    this.space = space;
    this.locations = locations;
  }

  /// Number of blocks.
  public int size() {
    return names.live();
  }

  boolean contains(BlockKey key) {
    int row = names.row(key.hash());
    return row != RecordNames.NONE && names.number(row) != RecordNames.NONE;
  }

  /// Adds a record.
  ///
  /// @return false if the record was added before, from another place
  boolean add(BlockKey key, RecordLocation location) {
    int row = names.row(key.hash());
    if (row != RecordNames.NONE && names.number(row) != RecordNames.NONE) {
      long there = names.sequence(row);
      if (there == location.sequence()) {
        return false;
      }
      if (there > location.sequence()) {
        replace(key, location);
        return true;
      }
      replace(key, locations.location(names.number(row)));
      drop(row);
    }
    names.put(key.hash(), location.sequence(), locations.add(location));
    return true;
  }

  /// Drops the record that a removal names.
  ///
  /// @return the dead record; null if it was not found
  @Nullable DeadRecord remove(RecordName name) {
    int row = name.key().space().equals(space) ? names.row(name.key().hash()) : RecordNames.NONE;
    if (row == RecordNames.NONE || names.number(row) == RecordNames.NONE || names.sequence(row) != name.sequence()) {
      return removeReplaced(name);
    }
    DeadRecord dead = drop(row);
    NavigableMap<Long, RecordLocation> older = replaced.getOrDefault(name.key(), Collections.emptyNavigableMap());
    if (!older.isEmpty()) {
      RecordLocation newest = older.pollLastEntry().getValue();
      names.put(name.key().hash(), newest.sequence(), locations.add(newest));
    }
    return dead;
  }

  private @Nullable DeadRecord removeReplaced(RecordName name) {
    NavigableMap<Long, RecordLocation> older = replaced.get(name.key());
    RecordLocation removed = older == null ? null : older.remove(name.sequence());
    return removed == null ? null : new DeadRecord(name, removed.segment());
  }

  private void replace(BlockKey key, RecordLocation location) {
    replaced.computeIfAbsent(key, any -> new TreeMap<>()).put(location.sequence(), location);
  }

  private DeadRecord drop(int row) {
    int number = names.number(row);
    DeadRecord dead =
        new DeadRecord(new RecordName(key(row), names.sequence(row)), locations.location(number).segment());
    locations.release(number);
    names.drop(row);
    return dead;
  }

  /// Dead records that no removal names.
  List<DeadRecord> replaced() {
    List<DeadRecord> dead = new ArrayList<>();
    replaced.forEach((key, older) -> older.values()
        .forEach(location -> dead.add(new DeadRecord(new RecordName(key, location.sequence()), location.segment()))));
    return dead;
  }

  private BlockKey key(int row) {
    return new BlockKey(space, names.hash(row));
  }

  /// Hands all blocks over.
  public void takeAll(Taker taker) {
    for (int row = 0; row < names.size(); row++) {
      if (names.number(row) != RecordNames.NONE) {
        taker.take(key(row), names.number(row));
      }
      names.discard(row);
    }
    names.clear();
  }
}
