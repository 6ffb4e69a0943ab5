package io.penstock.node.kvevents;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Turns the events of a tier into those of vLLM: one for each copy of a block that came or went. Copies on a level
/// that is down do not count. It keeps no blocks: each event of a tier names the levels before or after.
///
/// During a snapshot, a copy may be published twice, and the end of a copy may be published without its beginning.
final class KvTranslator {
  private Set<Level> down = Set.of();
  private final List<KvEvent> events = new ArrayList<>();
  private final List<BlockHash> run = new ArrayList<>();
  private boolean runIsStored;
  private KvMedium runMedium = KvMedium.CPU;

  /// Takes one event. A change of a level needs a new snapshot, which the caller asks for.
  void add(TierEvent event) {
    switch (event) {
      case TierEvent.Stored e -> came(e.key(), e.levels());
      case TierEvent.Present e -> came(e.key(), e.levels());
      case TierEvent.Evicted e -> went(e.key(), e.levels());
      case TierEvent.Removed e -> went(e.key(), e.levels());
      case TierEvent.Lost e -> went(e.key(), e.levels());
      case TierEvent.Moved e -> {
        came(e.key(), e.to().stream().filter(level -> !e.from().contains(level)).toList());
        went(e.key(), e.from().stream().filter(level -> !e.to().contains(level)).toList());
      }
      case TierEvent.SnapshotStarted e -> {
        down = Set.copyOf(e.down());
        clear();
      }
      case TierEvent.SnapshotEnded e -> {
      }
      case TierEvent.LevelDown e -> {
      }
      case TierEvent.LevelUp e -> {
      }
      case TierEvent.Skipped e -> {
      }
    }
  }

  /// The consumer is to forget all blocks.
  void clear() {
    endRun();
    events.add(new KvEvent.AllBlocksCleared());
  }

  /// Events since the last call. Neighbours of one kind and medium become one event.
  List<KvEvent> taken() {
    endRun();
    List<KvEvent> taken = List.copyOf(events);
    events.clear();
    return taken;
  }

  private void came(BlockKey key, List<Level> levels) {
    levels.forEach(level -> add(key, level, true));
  }

  private void went(BlockKey key, List<Level> levels) {
    levels.forEach(level -> add(key, level, false));
  }

  private void add(BlockKey key, Level level, boolean stored) {
    if (down.contains(level)) {
      return;
    }
    KvMedium medium = KvMedium.of(level.medium());
    if (stored != runIsStored || medium != runMedium) {
      endRun();
      runIsStored = stored;
      runMedium = medium;
    }
    run.add(key.hash());
  }

  private void endRun() {
    if (!run.isEmpty()) {
      events.add(runIsStored ? new KvEvent.BlockStored(run, runMedium) : new KvEvent.BlockRemoved(run, runMedium));
      run.clear();
    }
  }
}
