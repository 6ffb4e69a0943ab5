package io.penstock.stack.ledger;

import io.penstock.block.BlockKey;
import io.penstock.block.session.SessionId;
import io.penstock.pool.curve.MissRatioCurve;
import io.penstock.pool.curve.MissRatioOptions;
import io.penstock.pool.curve.WhatIf;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Reports each thing that happens to a block of a `TierStack`: to the counters, the event log and the listener. Used
/// in decisions only.
public final class StackHistory {
  private final StackShape shape;
  private final StackFigures figures;
  private final EventLog events;
  /// The lists of [#levels], which events share.
  private final Map<Long, List<Level>> lists = new HashMap<>();
  private final List<Level> named;
  private final MissRatioCurve curve;

  public StackHistory(StackShape shape, StackFigures figures, EventLog events, StackOptions.Sampling sampling) {
    this.shape = shape;
    this.figures = figures;
    this.events = events;
    this.named = shape.levels().stream().map(level -> new Level(level.name(), level.medium())).toList();
    this.curve = curve(shape, sampling);
  }

  private static MissRatioCurve curve(StackShape shape, StackOptions.Sampling sampling) {
    return new MissRatioCurve(shape.info().space().id(),
        MissRatioOptions.live(shape.info().capacityBlocks(), sampling.keys(), sampling.seed()));
  }

  /// Estimated effect of other capacities of the levels.
  public WhatIf whatIf() {
    return new WhatIf(curve.curve(), shape.isWriteThrough(),
        shape.levels().stream().map(level -> new WhatIf.Level(level.name(), presentBlocks(level))).toList());
  }

  /// Blocks that `level` has, or gets when it needs them.
  private long presentBlocks(StackLevel level) {
    return level instanceof StackLevel.Host host ? host.presentBlocks(shape.blockBytes()) : level.capacityBlocks();
  }

  /// Whether `key` is sampled, and so must be [#asked].
  public boolean samples(BlockKey key) {
    return curve.samples(key);
  }

  /// A lease asked for the sampled `key`.
  ///
  /// @param comes whether the key is being written
  public void asked(BlockKey key, boolean comes) {
    curve.reference(key);
    if (comes) {
      curve.enter(key);
    }
  }

  /// The block became visible, and has its bytes.
  ///
  /// @return the sequence number of the event
  public long stored(Resident block) {
    block.tell(bytesOf(block));
    return stored(block.key(), block.told());
  }

  /// Records a block of which the ledger keeps a number: its bytes are on `level`.
  void stored(BlockKey key, int level) {
    stored(key, 1L << level);
  }

  private long stored(BlockKey key, long levels) {
    if (curve.samples(key)) {
      curve.enter(key);
    }
    return events.append(sequence -> new TierEvent.Stored(sequence, key, levels(levels)));
  }

  /// The block of `key` became visible, and was evicted at once.
  ///
  /// @return the sequence number of the first event
  public long passed(BlockKey key, DeferredActions after) {
    long sequence = stored(key, 1L);
    evicted(key, 1L, after);
    return sequence;
  }

  /// Records that copies of `block` may have been added or dropped since its last event.
  public void reviewed(Resident block) {
    long from = block.told();
    if (!block.isRemoved() && !block.isReleased() && bytesOf(block) != from) {
      block.tell(bytesOf(block));
      events.append(sequence -> new TierEvent.Moved(sequence, block.key(), levels(from), levels(block.told())));
    }
  }

  /// The levels with the bytes of `block`, a bit each: stores with a copy, and the host level while they are in host
  /// memory. The level of the ledger if no level has them yet.
  private long bytesOf(Resident block) {
    long bytes = block.isInMemory() && shape.host() >= 0 ? 1L << shape.host() : 0;
    for (int level = 0; level < figures.levels(); level++) {
      bytes |= block.isStored(level) ? 1L << level : 0;
    }
    return bytes == 0 ? 1L << block.level() : bytes;
  }

  /// The levels of `bits`, fastest first.
  List<Level> levels(long bits) {
    return lists.computeIfAbsent(bits, this::newLevels);
  }

  private List<Level> newLevels(long bits) {
    List<Level> levels = new ArrayList<>();
    for (int level = 0; level < figures.levels(); level++) {
      if ((bits >>> level & 1) != 0) {
        levels.add(level(level));
      }
    }
    return List.copyOf(levels);
  }

  private Level level(int level) {
    return named.get(level);
  }

  /// The store of `level` ceased to give blocks.
  public void down(int level, String reason) {
    events.append(sequence -> new TierEvent.LevelDown(sequence, level(level), reason));
  }

  /// The store of `level` gives blocks again.
  public void up(int level) {
    events.append(sequence -> new TierEvent.LevelUp(sequence, level(level)));
  }

  /// A client ended a session that was known.
  void ended(SessionId session) {
    events.ended(session);
  }

  /// One commit made `blocks` visible.
  public void committed(int blocks, DeferredActions after) {
    figures.committed(blocks);
    after.report(() -> shape.listener().stored(blocks, blocks * shape.blockBytes()));
  }

  /// One lease asked for `references` keys and found `hits`.
  public void referenced(int references, int hits, DeferredActions after) {
    figures.referenced(references, hits);
    curve.count(references);
    after.report(() -> shape.listener().referenced(references, hits));
  }

  /// The block left because there was no room for it.
  public void evicted(Resident block, DeferredActions after) {
    evicted(block.key(), block.told(), after);
  }

  /// Records the eviction of a block of which the ledger kept a number: its bytes are on `level`.
  void evicted(BlockKey key, int level, DeferredActions after) {
    evicted(key, 1L << level, after);
  }

  private void evicted(BlockKey key, long levels, DeferredActions after) {
    figures.evicted();
    events.append(sequence -> new TierEvent.Evicted(sequence, key, levels(levels)));
    after.report(() -> shape.listener().evicted(shape.blockBytes()));
  }

  /// A caller removed the block.
  public void removed(Resident block) {
    curve.remove(block.key());
    events.append(sequence -> new TierEvent.Removed(sequence, block.key(), levels(block.told())));
  }

  /// The block left because its bytes were damaged or could not be kept.
  public void lost(Resident block, String reason, DeferredActions after) {
    curve.remove(block.key());
    events.append(sequence -> new TierEvent.Lost(sequence, block.key(), levels(block.told()), reason));
    after.report(() -> shape.listener().lost(1));
  }

  /// A damaged block was found.
  public void corrupt(DeferredActions after) {
    figures.corrupt();
    after.report(shape.listener()::corrupt);
  }

  /// `blocks` arrived on level `to` from level `from`; −1 for blocks that a writer put there.
  public void moved(int from, int to, int blocks, DeferredActions after) {
    if (blocks > 0) {
      figures.arrived(to, blocks);
    }
    if (blocks > 0 && from >= 0) {
      after.report(() -> shape.listener().moved(level(from), level(to), blocks, blocks * shape.blockBytes()));
    }
  }
}
