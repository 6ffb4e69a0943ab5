package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.check.Checks;
import io.penstock.operator.Quiet;
import io.penstock.tier.BlockTier;
import reactor.core.publisher.Flux;

/// Turns distinct keys into the blocks that a tier has, in the order of the keys. Misses are left out.
///
/// | | |
/// |---|---|
/// | asks | the tier for up to `windowKeys` keys at a time: when that many have come, or the source ends |
/// | backpressure | blocks; `concurrency` requests are open ahead of demand |
/// | holds | for each request up to `BlockTier.GET_WINDOW` + 1 leased blocks |
/// | cancel | ends the requests; the scope closes blocks not taken |
/// | threads | the tier's |
/// | signals | errors of the tier, after the blocks before them; the other requests end |
public final class Fetch {
  private Fetch() {}

  /// @param scope owns the leases, and the blocks emitted
  public static Stage<BlockKey, Block> from(BlockTier tier, Options options, BlockScope scope) {
    requireNonNull(tier, "tier");
    requireNonNull(scope, "scope");
    return keys -> Quiet.afterCancel(keys.buffer(options.windowKeys()).flatMapSequential(
        window -> Flux.defer(() -> tier.get(window, scope)), options.concurrency(), 1));
  }

  /// Options of [Fetch].
  ///
  /// @param windowKeys maximum number of keys of a request
  /// @param concurrency maximum number of requests at a time
  public record Options(int windowKeys, int concurrency) {
    public Options {
      Checks.positive("windowKeys", windowKeys);
      Checks.positive("concurrency", concurrency);
    }

    /// Requests of 16 keys, 2 at a time.
    public static Options defaults() {
      return new Options(16, 2);
    }

    public Options withWindowKeys(int windowKeys) {
      return new Options(windowKeys, concurrency);
    }

    public Options withConcurrency(int concurrency) {
      return new Options(windowKeys, concurrency);
    }
  }
}
