package io.penstock.node.tiers;

import io.penstock.node.text.Json;
import io.penstock.recording.Player;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.RecordedEvent;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.util.List;

/// The tiers of a recording, opened again.
public final class PlayedTiers implements Player.World {
  private final TierChange change;

  /// The tiers as they were recorded.
  public PlayedTiers() {
    this(TierChange.NONE);
  }

  /// The tiers with a change, which do not play the recording, but may be given the recorded calls.
  public PlayedTiers(TierChange change) {
    this.change = change;
  }

  private TierWords words(RecordedEvent opened) {
    return Json.MAPPER.readValue(opened.text(), TierWords.class).with(change);
  }

  @Override
  public List<PlayedStoreSpec> stores(RecordedEvent opened) {
    return words(opened).specs();
  }

  @Override
  public BlockTier open(RecordedEvent opened, TierInputs inputs, List<BlockStore> stores) {
    TierWords words = words(opened);
    TierPlan plan = words.plan();
    return new TierStack(plan.space(), NodeTiers.levels(plan, stores, words.ssdBlocks()),
        NodeTiers.options(words.name(), plan), TierListener.noop(), inputs, Sampling.none());
  }

  @Override
  public void expire(BlockTier tier) {
    ((TierStack) tier).expire();
  }
}
