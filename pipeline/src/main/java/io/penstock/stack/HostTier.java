package io.penstock.stack;

import io.penstock.block.BlockArena;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ForwardingTier;
import io.penstock.tier.spi.TierInputs;
import java.util.List;

/// Blocks in host memory (DRAM), in slabs, with an exact eviction policy: a [TierStack] of one level.
public final class HostTier extends ForwardingTier {
  private final TierStack stack;

  /// Named `dram`, with the defaults of a stack.
  ///
  /// @param capacityBlocks most visible blocks; `Long.MAX_VALUE` for any number
  public HostTier(CacheSpace space, long capacityBlocks, TierListener listener) {
    this(space, capacityBlocks, StackOptions.defaults("dram"), listener);
  }

  public HostTier(CacheSpace space, long capacityBlocks, StackOptions options, TierListener listener) {
    this(space, capacityBlocks, options, listener, ChunkSource.ofSystem());
  }

  /// A tier on memory of another kind.
  ///
  /// @param chunks closed with this tier
  public HostTier(CacheSpace space, long capacityBlocks, StackOptions options, TierListener listener,
      ChunkSource chunks) {
    this(new TierStack(space, List.of(new StackLevel.Host(options.name(), capacityBlocks)), options, listener,
        TierInputs.of(chunks), StackOptions.Sampling.none()));
  }

  /// A tier with inputs of another kind.
  public HostTier(CacheSpace space, long capacityBlocks, StackOptions options, TierListener listener,
      TierInputs inputs) {
    this(new TierStack(space, List.of(new StackLevel.Host(options.name(), capacityBlocks)), options, listener, inputs,
        StackOptions.Sampling.none()));
  }

  private HostTier(TierStack stack) {
    super(stack);
    this.stack = stack;
  }

  /// The memory of this tier, for gauges.
  public BlockArena arena() {
    return stack.arena();
  }

  @Override
  protected boolean letsSessionsThrough() {
    return true;
  }
}
