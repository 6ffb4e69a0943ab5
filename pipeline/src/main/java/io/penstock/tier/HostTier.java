package io.penstock.tier;

import io.penstock.tier.spi.ForwardingTier;
import io.penstock.block.BlockArena;
import io.penstock.block.CacheSpace;
import io.penstock.block.ChunkSource;
import java.util.List;

/// Blocks in host memory (DRAM), in slabs, with an exact eviction policy: a [TierStack] of one level.
public final class HostTier extends ForwardingTier {
  private final TierStack stack;

  public HostTier(CacheSpace space, HostTierOptions options, TierListener listener) {
    this(space, options, listener, ChunkSource.ofJdk());
  }

  /// The same on memory of another kind.
  ///
  /// @param chunks closed with this tier
  public HostTier(CacheSpace space, HostTierOptions options, TierListener listener, ChunkSource chunks) {
    this(new TierStack(space, List.of(new Level.Host(options.name(), options.capacityBlocks())), options.stack(),
        listener, chunks));
  }

  private HostTier(TierStack stack) {
    super(stack);
    this.stack = stack;
  }

  /// The memory of this tier, for gauges.
  public BlockArena arena() {
    return stack.arena();
  }
}
