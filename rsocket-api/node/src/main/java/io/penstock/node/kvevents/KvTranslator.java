package io.penstock.node.kvevents;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.tier.TierHolds.BlockTokens;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Turns the events of a tier into those of vLLM: one for each copy of a block that came or went. Copies on a level
/// that is down do not count. It keeps no blocks: each event of a tier names the levels before or after.
///
/// The token ids come from a [KvTokens]. Blocks with them share an event only if each is the parent of the next, as in
/// events of vLLM.
///
/// During a snapshot, a copy may be published twice, and the end of a copy may be published without its beginning.
final class KvTranslator {
  private final KvTokens tokens;
  private Set<Level> down = Set.of();
  private final List<KvEvent> events = new ArrayList<>();
  private final List<BlockHash> run = new ArrayList<>();
  /// Tokens of the blocks of the run: of all or of none.
  private final List<BlockTokens> runTokens = new ArrayList<>();
  private boolean runIsStored;
  private KvMedium runMedium = KvMedium.CPU;

  /// @param tokens of blocks that have been put with them
  KvTranslator(KvTokens tokens) {
    this.tokens = tokens;
  }

  /// Takes one event. A change of a level needs a new snapshot, which the caller asks for.
  void add(TierEvent event) {
    switch (event) {
      case TierEvent.Stored e -> came(e.key(), e.levels());
      case TierEvent.Present e -> came(e.key(), e.levels());
      case TierEvent.Evicted e -> gone(e.key(), e.levels());
      case TierEvent.Removed e -> gone(e.key(), e.levels());
      case TierEvent.Lost e -> gone(e.key(), e.levels());
      case TierEvent.Moved e -> {
        came(e.key(), e.to().stream().filter(level -> !e.from().contains(level)).toList());
        went(e.key(), e.from().stream().filter(level -> !e.to().contains(level)).toList());
      }
      case TierEvent.SnapshotStarted e -> {
        down = Set.copyOf(e.down());
        tokens.snapshotStarted();
        clear();
      }
      case TierEvent.SnapshotEnded e -> tokens.snapshotEnded();
      case TierEvent.LevelDown e -> {
      }
      case TierEvent.LevelUp e -> {
      }
      case TierEvent.Skipped e -> {
      }
      case TierEvent.SessionEnded e -> {
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
    BlockTokens known = tokens.claimed(key.hash());
    levels.forEach(level -> add(key, level, true, known));
  }

  private void went(BlockKey key, List<Level> levels) {
    levels.forEach(level -> add(key, level, false, null));
  }

  private void gone(BlockKey key, List<Level> levels) {
    went(key, levels);
    tokens.gone(key.hash());
  }

  /// @param known tokens of the block; null if they are not known, or not published
  private void add(BlockKey key, Level level, boolean stored, @Nullable BlockTokens known) {
    if (down.contains(level)) {
      return;
    }
    KvMedium medium = KvMedium.of(level.medium());
    if (stored != runIsStored || medium != runMedium || !continues(known)) {
      endRun();
      runIsStored = stored;
      runMedium = medium;
    }
    run.add(key.hash());
    if (known != null) {
      runTokens.add(known);
    }
  }

  /// Whether a block with these tokens can follow the blocks of the run in one event.
  private boolean continues(@Nullable BlockTokens known) {
    return run.isEmpty()
        || (known == null ? runTokens.isEmpty() : !runTokens.isEmpty() && known.parent().equals(run.getLast()));
  }

  private void endRun() {
    if (!run.isEmpty()) {
      events.add(runIsStored
          ? new KvEvent.BlockStored(run, runMedium, runTokens)
          : new KvEvent.BlockRemoved(run, runMedium));
      run.clear();
      runTokens.clear();
    }
  }
}
