package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import java.util.List;
import reactor.core.publisher.Flux;

/// Turns keys into the blocks that a tier has, in the order of the keys; misses are left out.
///
/// | | |
/// |---|---|
/// | asks | the tier with up to `windowKeys` keys at a time; a key that comes twice is asked for again and counts as a use again |
/// | backpressure | blocks; `concurrency` requests are open ahead of demand, each holding up to `BlockTier.GET_WINDOW` + 1 leased blocks |
/// | cancel | ends the requests; blocks not taken are closed by the scope |
/// | threads | the tier's |
/// | signals | errors of the tier, after the blocks that came before them; the other requests end |
public final class Fetch {
  private Fetch() {}

  /// Fetches single keys, which it gathers: a request goes out when it is full or the source ends. A source that pauses
  /// between keys is gathered by [Batch] and fetched by [#windows].
  ///
  /// @param scope owns the leases, and the blocks emitted
  public static Stage<BlockKey, Block> from(BlockTier tier, BlockScope scope, FetchOptions options) {
    Stage<List<BlockKey>, Block> windows = windows(tier, scope, options);
    return keys -> windows.apply(Windows.distinct(keys, options.windowKeys(), key -> key));
  }

  /// Fetches ready windows of distinct keys, one request each.
  ///
  /// @param scope owns the leases, and the blocks emitted
  public static Stage<List<BlockKey>, Block> windows(BlockTier tier, BlockScope scope, FetchOptions options) {
    requireNonNull(tier, "tier");
    requireNonNull(scope, "scope");
    requireNonNull(options, "options");
    return windows -> Quiet.afterCancel(
        windows.flatMapSequential(keys -> Flux.defer(() -> tier.get(keys, scope)), options.concurrency(), 1));
  }
}
