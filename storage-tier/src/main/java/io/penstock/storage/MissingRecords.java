package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.storage.checkpoint.Noted;
import io.penstock.storage.engine.Location;
import io.penstock.storage.record.RecordKind;
import io.penstock.storage.record.RecordName;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Blocks that the checkpoint of a segment names, though no frame of that segment leads to them: its file was cut
/// short, or a broken frame took the last one. Only the checkpoint tells this from what a stop leaves. One thread.
final class MissingRecords {
  private static final int NAMED = 8;

  /// Of the segment that is visited, by their places in it: the newest of each key.
  private final SortedMap<Long, RecordName> expected = new TreeMap<>();
  /// Sequences of those whose block was neither written again nor removed.
  private final Map<BlockKey, Long> missing = new LinkedHashMap<>();

  /// Begins with a segment, whose checkpoint names `known`, or none.
  void visit(List<Noted> known) {
    expected.clear();
    Map<BlockKey, Noted> newest = new HashMap<>();
    for (Noted each : known) {
      if (each.kind() == RecordKind.BLOCK) {
        newest.put(each.key(), each);
      }
      each.removals().forEach(name -> newest.computeIfPresent(name.key(),
          (key, named) -> named.sequence() == name.sequence() ? null : named));
    }
    newest.values().forEach(each -> expected.put(each.at().offset(), new RecordName(each.key(), each.sequence())));
  }

  /// A frame leads to `at`: whatever is there is told elsewhere.
  void met(Location at) {
    expected.remove(at.offset());
  }

  /// The visit came to its end.
  ///
  /// @param hides whether good records lie where no frame leads: those are told, and a repair brings them back
  void left(boolean hides) {
    if (!hides) {
      expected.values().forEach(each -> missing.put(each.key(), each.sequence()));
    }
    expected.clear();
  }

  /// The block of `key` was written again.
  void written(BlockKey key) {
    if (!missing.isEmpty()) {
      missing.remove(key);
    }
  }

  /// A record was removed: it counts no more, missing or not.
  void removed(RecordName record) {
    missing.remove(record.key(), record.sequence());
  }

  int count() {
    return missing.size();
  }

  /// Some of them by name; null if there are none.
  @Nullable String problem() {
    if (missing.isEmpty()) {
      return null;
    }
    String names = missing.keySet().stream().limit(NAMED).map(BlockKey::toString).collect(Collectors.joining(", "));
    return missing.size()
        + " blocks that checkpoints name must be in their segments (were not: cut off, or behind a broken end, and gone unless an older "
        + "record has them): " + names + (missing.size() > NAMED ? " and " + (missing.size() - NAMED) + " more" : "");
  }
}
