package io.penstock.examples.disaggregated;

import io.penstock.tier.ByteBudget;
import io.penstock.wire.KvServer;
import io.penstock.wire.KvServerOptions;
import io.penstock.wire.transport.TcpListener;
import io.penstock.wire.transport.TcpServerOptions;
import io.penstock.wire.transport.TcpTransport;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;

/// A prefill: an instance of the model, and a server for each rank, where decodes ask for its part of the cache.
final class PrefillNode implements Peer {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final long BUDGET_BYTES = 64 << 20;

  private final Setup setup;
  private final PrefillSide side;
  private final List<KvServer> servers;
  private final LongSupplier micros;

  PrefillNode(Setup setup, Network network, TierMaker maker, LongSupplier micros) {
    this.setup = setup;
    this.micros = micros;
    this.side = new PrefillSide(new Instance(setup.prefill(), setup.requests(), setup.sequenceTokens()),
        shard -> maker.make(shard, setup.tierBlocks(shard)), network.sending());
    ByteBudget budget = new ByteBudget("prefill", BUDGET_BYTES, 64);
    this.servers = IntStream.range(0, setup.prefill().shards().size()).mapToObj(rank -> KvServer
        .bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), network.loops()), side.outlet(rank),
            KvServerOptions.defaults().withNode("prefill rank " + rank), budget, network.timers())
        .blockOptional(PATIENCE).orElseThrow()).toList();
  }

  /// Ports of the ranks.
  List<Integer> ports() {
    return servers.stream()
        .map(server -> ((InetSocketAddress) ((TcpListener) server.listening()).address()).getPort()).toList();
  }

  @Override
  public synchronized Reply ask(Ask ask) {
    return switch (ask.kind()) {
      case PREFILL -> prefill(ask);
      case RELEASE -> {
        side.release(ask.request());
        yield Reply.DONE;
      }
      case RECEIVE, DECODE -> throw new IllegalArgumentException("kind must be PREFILL or RELEASE (was "
          + ask.kind() + ")");
    };
  }

  private Reply prefill(Ask ask) {
    LayerClock clock = new LayerClock(micros);
    PrefillSteps timed = new PrefillSteps() {
      @Override
      public void chunk(int end, boolean last) {
        clock.begin();
      }

      @Override
      public void layer(int layer) {
        clock.computed(layer);
      }
    };
    Prefilled prefilled = setup.push()
        ? side.push(ask.request(), ask.tokens(), setup.pace(), timed)
        : side.compute(ask.request(), ask.tokens(), setup.pace(), timed);
    return Reply.of(prefilled, clock.computeTimes());
  }

  @Override
  public void close() {
    Flux.fromIterable(servers).flatMap(KvServer::close).blockLast(PATIENCE);
    side.close();
  }
}
