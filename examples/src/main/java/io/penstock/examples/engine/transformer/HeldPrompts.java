package io.penstock.examples.engine.transformer;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import io.penstock.tier.OnMiss;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Blocks of prompts whose decodes have not come yet. A hold ends after a short time, whatever becomes of the decode: a
/// decode takes a lease of its own as soon as it gets the request ([WaitingPrompts]), which ends with its connection.
final class HeldPrompts {
  private final BlockTier tier;
  private final Duration claim;
  private final Scheduler timers;
  private final AtomicInteger blocks = new AtomicInteger();

  HeldPrompts(BlockTier tier, Duration claim, Scheduler timers) {
    this.tier = tier;
    this.claim = claim;
    this.timers = timers;
  }

  /// Blocks that are held.
  int blocks() {
    return blocks.get();
  }

  /// Holds the blocks of `keys` that the tier has.
  ///
  /// @return number of blocks, from the first one on, that are held; cold
  Mono<Integer> hold(List<BlockKey> keys) {
    return Mono.defer(() -> {
      BlockScope scope = new BlockScope();
      return tier.lease(keys, OnMiss.SKIP, scope).map(lease -> {
        int held = lease.found().count();
        blocks.addAndGet(held);
        timers.schedule(() -> {
          scope.close();
          blocks.addAndGet(-held);
        }, claim.toMillis(), TimeUnit.MILLISECONDS);
        return lease.found().prefix();
      }).doOnError(error -> scope.close()).doOnCancel(scope::close);
    });
  }
}
