package io.penstock.examples.hello;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.LoadPrefix;
import io.penstock.flow.OffloadPrefix;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// Starts a node, puts one block into it and gets it back, over TCP, all in one process. The README shows this file.
final class Hello {
  private Hello() {}

  static Mono<Long> putAndGet(LoopResources loops, Scheduler timers) {
    // What a block is: 8 layers of keys and values for 16 tokens, 2 heads × 64 elements of BF16: 64 KiB.
    var space = CacheSpace.of("my-model", BlockLayout.attention(8, 16, 2, 64, ElementType.BF16));
    var key = space.key(new PrefixHasher(List.of()).next(BlockHash.ROOT, IntStream.range(0, 16).toArray()));

    // A node: 1,000 blocks of memory, served on a free port. Never more than 8 MiB on their way in and out.
    var tier = new HostTier(space, 1_000, TierListener.noop());
    var server = KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops),
        tier, KvServerOptions.defaults(), new ByteBudget("node", 8 << 20, 64), timers);

    // The node as a tier: a prefill computes the block into it, layer after layer, whenever the node has room.
    var arena = new SlabArena("client", space.layout(), 128, 64);
    var budget = new ByteBudget("client", 8 << 20, 64);
    var prefill =
        new ProducingSource(arena, SliceShape.Order.LAYER_FIRST, (block, range, memory) -> memory.fill((byte) 42));
    return server.flatMap(node -> KvClient
        .connect(TcpTransport.client(TcpClientOptions.to(((TcpListener) node.listening()).address()), loops),
            KvClientOptions.defaults(), space, arena, budget)
        .map(client -> new RemoteTier(client, space))
        .flatMap(remote -> Flux.just(List.of(key))
            .transform(OffloadPrefix.layers(remote, SliceShape.defaults(), prefill)).then(load(remote, List.of(key)))
            .delayUntil(done -> remote.close()).delayUntil(done -> node.close())))
        .delayUntil(done -> tier.close()).doFinally(end -> arena.close());
  }

  // A decode loads the longest prefix that a tier has, layer after layer, as fast as it asks for it.
  static Mono<Long> load(BlockTier tier, List<BlockKey> prompt) {
    return Flux.using(BlockScope::new, scope -> LoadPrefix.layers(tier, prompt, SliceShape.defaults(), scope)
        .map(slice -> { // verified, in memory of the arena until it is closed
          try (slice) {
            return (long) slice.bytes();
          }
        }), BlockScope::close).reduce(0L, Long::sum);
  }
}
