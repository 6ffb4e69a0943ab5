package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.Checks;
import io.penstock.block.Permits;
import io.penstock.tier.BlockTier;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Reads a key once for all who want it at the same time. Holds nothing between reads, so there is nothing to close.
///
/// | | |
/// |---|---|
/// | joins | whoever asks while the key is being read, or waits for its read to start; whoever comes later causes a new read |
/// | bounds | `maxReads` keys at a time, others wait in a fair line of `maxWaitingReads` |
/// | backpressure | a `Mono` joins, or starts the read, on `request` |
/// | ownership | every waiter gets its own share, owned by its scope |
/// | cancel | leaves the read; the last one to leave cancels it, or its place in line |
/// | threads | the reader's; safe to call from any thread |
/// | signals | empty on a miss; an error of the read reaches all its waiters; [io.penstock.block.BudgetExhaustedException] if the line is full |
public final class Coalesce {
  private final BiFunction<BlockKey, BlockScope, Mono<Block>> reader;
  private final Permits permits;
  /// Reads that can still be joined. Guarded by `this`.
  private final Map<BlockKey, SharedRead> reads = new HashMap<>();

  /// @param reader reads one key; the block is owned by the scope it is given
  public Coalesce(BiFunction<BlockKey, BlockScope, Mono<Block>> reader, CoalesceOptions options) {
    this.reader = requireNonNull(reader, "reader");
    this.permits = new Permits("coalesced reads", options.maxReads(), options.maxWaitingReads());
  }

  /// Reads single keys from `tier`.
  public static Coalesce over(BlockTier tier, CoalesceOptions options) {
    requireNonNull(tier, "tier");
    return new Coalesce((key, scope) -> tier.get(List.of(key), scope).next(), options);
  }

  /// The block of `key`, or empty on a miss.
  ///
  /// @param scope owns the block emitted
  public Mono<Block> get(BlockKey key, BlockScope scope) {
    requireNonNull(key, "key");
    requireNonNull(scope, "scope");
    return Mono.create(sink -> {
      SharedRead.Waiter waiter = new SharedRead.Waiter(this, sink, scope);
      sink.onCancel(waiter::leave);
      sink.onRequest(n -> join(key, waiter));
    });
  }

  /// Turns keys into blocks in the order of the keys; misses are left out.
  ///
  /// `concurrency` keys are read, and as many blocks held, ahead of demand; prefetch 1 a key.
  ///
  /// @param scope owns the blocks emitted
  public Stage<BlockKey, Block> stage(BlockScope scope, int concurrency) {
    requireNonNull(scope, "scope");
    Checks.positive("concurrency", concurrency);
    return keys -> Quiet.afterCancel(Flux.defer(() -> keys.flatMapSequential(key -> get(key, scope), concurrency, 1)));
  }

  /// Keys being read or waiting for their read to start.
  public synchronized int openReads() {
    return reads.size();
  }

  private void join(BlockKey key, SharedRead.Waiter waiter) {
    SharedRead started = null;
    synchronized (this) {
      if (!waiter.canJoin()) {
        return;
      }
      SharedRead read = reads.get(key);
      if (read == null) {
        started = new SharedRead(this, key, permits);
        read = started;
        reads.put(key, read);
      }
      waiter.join(read);
    }
    if (started != null) {
      started.start(reader);
    }
  }

  /// Takes `read` off the list: nobody joins it any more. Guarded by `this`.
  void remove(BlockKey key, SharedRead read) {
    reads.remove(key, read);
  }
}
