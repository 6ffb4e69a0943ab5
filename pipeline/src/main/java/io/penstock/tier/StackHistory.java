package io.penstock.tier;

import io.penstock.block.BlockKey;

/// Reports each thing that happens to a block of a [TierStack]: to the counters, the event log and the listener. Used
/// in decisions only.
final class StackHistory {
  private final StackShape shape;
  private final StackFigures figures;
  private final EventLog events;

  StackHistory(StackShape shape, StackFigures figures, EventLog events) {
    this.shape = shape;
    this.figures = figures;
    this.events = events;
  }

  /// The block became visible.
  ///
  /// @return the sequence number of the event
  long stored(BlockKey key) {
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
    events.append(sequence -> new TierEvent.Removed(sequence, key));
  }

  /// The block left because its bytes were damaged or could not be kept.
  void lost(BlockKey key, String reason, DeferredActions after) {
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
