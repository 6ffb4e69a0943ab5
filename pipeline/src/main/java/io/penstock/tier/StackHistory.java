package io.penstock.tier;

import io.penstock.block.BlockKey;
import io.penstock.pool.MissRatioCurve;
import io.penstock.pool.MissRatioOptions;
import io.penstock.pool.WhatIf;

/// Reports each thing that happens to a block of a [TierStack]: to the counters, the event log and the listener. Used
/// in decisions only.
final class StackHistory {
  private final StackShape shape;
  private final StackFigures figures;
  private final EventLog events;
  private MissRatioCurve curve;

  StackHistory(StackShape shape, StackFigures figures, EventLog events) {
    this.shape = shape;
    this.figures = figures;
    this.events = events;
    this.curve = curve(shape, TierStack.Sampling.none());
  }

  /// Estimates from now on what other capacities would bring.
  void sample(TierStack.Sampling sampling) {
    curve = curve(shape, sampling);
  }

  private static MissRatioCurve curve(StackShape shape, TierStack.Sampling sampling) {
    return new MissRatioCurve(shape.info().space().id(),
        MissRatioOptions.live(shape.info().capacityBlocks(), sampling.keys(), sampling.seed()));
  }

  /// What other capacities of the levels would bring.
  WhatIf whatIf() {
    return new WhatIf(curve.curve(), shape.isWriteThrough(),
        shape.levels().stream().map(level -> new WhatIf.Level(level.name(), level.capacityBlocks())).toList());
  }

  /// Whether `key` is sampled, and so must be [#asked].
  boolean samples(BlockKey key) {
    return curve.samples(key);
  }

  /// A lease asked for the sampled `key`.
  ///
  /// @param comes whether the key is being written
  void asked(BlockKey key, boolean comes) {
    curve.reference(key);
    if (comes) {
      curve.enter(key);
    }
  }

  /// The block became visible.
  ///
  /// @return the sequence number of the event
  long stored(BlockKey key) {
    if (curve.samples(key)) {
      curve.enter(key);
    }
    return events.append(sequence -> new TierEvent.Stored(sequence, key));
  }

  /// One commit made `blocks` visible.
  void committed(int blocks, DeferredActions after) {
    figures.committed(blocks);
    after.report(() -> shape.listener().stored(blocks, blocks * shape.blockBytes()));
  }

  /// One lease asked for `references` keys and found `hits`.
  void referenced(int references, int hits, DeferredActions after) {
    figures.referenced(references, hits);
    curve.count(references);
    after.report(() -> shape.listener().referenced(references, hits));
  }

  /// The block left because there was no room for it.
  void evicted(BlockKey key, DeferredActions after) {
    figures.evicted();
    events.append(sequence -> new TierEvent.Evicted(sequence, key));
    after.report(() -> shape.listener().evicted(shape.blockBytes()));
  }

  /// A caller removed the block.
  void removed(BlockKey key) {
    curve.remove(key);
    events.append(sequence -> new TierEvent.Removed(sequence, key));
  }

  /// The block left because its bytes were damaged or could not be kept.
  void lost(BlockKey key, String reason, DeferredActions after) {
    curve.remove(key);
    events.append(sequence -> new TierEvent.Lost(sequence, key, reason));
    after.report(() -> shape.listener().lost(1));
  }

  /// A damaged block was found.
  void corrupt(DeferredActions after) {
    figures.corrupt();
    after.report(shape.listener()::corrupt);
  }

  /// `blocks` arrived on level `to` from level `from`; −1 for blocks that a writer put there.
  void moved(int from, int to, int blocks, DeferredActions after) {
    if (blocks > 0) {
      figures.arrived(to, blocks);
    }
    if (blocks > 0 && from >= 0) {
      after.report(() -> shape.listener().moved(shape.levels().get(from), shape.levels().get(to), blocks,
          blocks * shape.blockBytes()));
    }
  }
}
