package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// A client of a [FaultNode] with a connection of its own, and all that lands there.
final class FaultClient implements AutoCloseable {
  private final LinkEnds ends;
  private final int port;
  private final Scheduler timers;
  private final FaultLimits limits;
  private final int window;
  private final SlabArena arena;
  private final ByteBudget budget = new ByteBudget("client", 16L * FaultRound.SLICE_BYTES, 64);
  private @Nullable KvClient client;

  /// @param port of the node, or of a proxy before it
  /// @param window blocks; of a short one each block has so many bytes in a slice that they are read into their drafts
  FaultClient(FaultNode node, int port, int window) {
    this.window = window;
    this.ends = node.ends();
    this.port = port;
    this.timers = node.timers();
    this.limits = node.limits();
    this.arena = new SlabArena("client", FaultRound.SPACE.layout(), 2 * FaultRound.WINDOW, 64, ends.chunks());
  }

  static KvClientOptions.Builder options(FaultLimits limits) {
    return KvClientOptions.builder().maxSliceBytes(FaultRound.SLICE_BYTES)
        .keepAlive(FaultRound.KEEP_ALIVE, limits.lifetime());
  }

  Mono<KvClient> connecting() {
    return KvClient.connect(ends.client(port), options(limits).windowBlocks(window)
        .answerTimeout(limits.answer()).timers(timers).build(), FaultRound.SPACE, arena, budget)
        .doOnNext(made -> client = made);
  }

  void connect() {
    connecting().block(FaultRound.PATIENCE);
  }

  KvClient connected() {
    return requireNonNull(client, "client");
  }

  ProducingSource source() {
    return new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
        (key, range, to) -> Blocks.fill(key, range.offset(FaultRound.SPACE.layout()), to));
  }

  /// The keys of the blocks that came whole; each byte is compared.
  Flux<BlockKey> read(List<BlockKey> keys) {
    return Flux.using(BlockScope::new, scope -> connected().lease(keys, OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.windows(FaultRound.WINDOW, scope)).concatMapIterable(blocks -> blocks)
        .map(leased -> {
          Blocks.assertBytes(leased.block());
          leased.block().close();
          return leased.block().key();
        }), BlockScope::close);
  }

  @Override
  public void close() {
    if (client != null) {
      client.close().block(FaultRound.PATIENCE);
    }
    try (LeakLedger leaks = new LeakLedger()) {
      leaks.watch(arena);
      leaks.watch(budget);
    }
  }
}
