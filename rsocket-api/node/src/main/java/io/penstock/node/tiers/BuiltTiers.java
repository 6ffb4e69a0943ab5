package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.node.text.Json;
import io.penstock.recording.RecordedTier;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A stack that a program builds from levels of its own; recorded, it can be played by [PlayedTiers]. Closing the tier
/// closes the stack.
///
/// @param tier for its callers
/// @param stack behind it, for gauges
public record BuiltTiers(BlockTier tier, TierStack stack) {
  /// Opens a stack.
  ///
  /// @param space without a salt if it is recorded
  /// @param levels fastest first: a device, host memory, a disk, each at most once; the stack owns their stores
  /// @param recording null for none
  public static BuiltTiers open(CacheSpace space, List<StackLevel> levels, StackOptions options, TierListener listener,
      @Nullable TierRecording recording) {
    if (recording == null) {
      TierStack stack = new TierStack(space, levels, options, listener);
      return new BuiltTiers(stack, stack);
    }
    String words = Json.MAPPER.writeValueAsString(TierWords.of(space, levels, options));
    List<BlockStore> stores = levels.stream().filter(StackLevel.Stored.class::isInstance)
        .map(level -> ((StackLevel.Stored) level).store()).toList();
    TierStack[] made = new TierStack[1];
    RecordedTier tier = recording.open(words, stores, (inputs, recorded) -> {
      made[0] = new TierStack(space, on(levels, recorded), options, listener, inputs, Sampling.none());
      return made[0];
    });
    return new BuiltTiers(tier, requireNonNull(made[0], "stack"));
  }

  /// The levels on other stores, which are given in the same order.
  private static List<StackLevel> on(List<StackLevel> levels, List<BlockStore> stores) {
    Iterator<BlockStore> next = stores.iterator();
    List<StackLevel> all = new ArrayList<>();
    for (StackLevel level : levels) {
      all.add(level instanceof StackLevel.Stored stored
          ? new StackLevel.Stored(next.next(), stored.capacityBlocks())
          : level);
    }
    return all;
  }
}
