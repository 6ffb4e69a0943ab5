package io.penstock.examples.disaggregated;

import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.DisaggServices;
import io.penstock.wire.KvServer;
import io.penstock.wire.KvServerOptions;
import io.penstock.wire.NodeSpaces;
import io.penstock.wire.RegistryClient;
import io.penstock.wire.transport.TcpServerOptions;
import io.penstock.wire.transport.TcpTransport;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/// A prefill: an instance of the model, and a server for each rank, where decodes ask for its part of the cache, and
/// say that they are done. The ranks stay in a registry while the node lives.
final class PrefillNode implements Peer {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final long BUDGET_BYTES = 64 << 20;
  /// Of the wire.
  private static final int PROTOCOL_VERSION = 1;

  private final Setup setup;
  private final PrefillSide side;
  private final List<KvServer> servers;
  private final RegistryClient registry;
  private final List<Registration> ranks = new ArrayList<>();
  private final Disposable registered;
  private final LongSupplier micros;

  /// @param name of the instance
  /// @param registryPort where the registry listens
  PrefillNode(String name, Setup setup, int registryPort, Network network, TierMaker maker, LongSupplier micros) {
    this.setup = setup;
    this.micros = micros;
    this.side = new PrefillSide(new Instance(setup.prefill(), setup.keptRequests(), setup.sequenceTokens()),
        setup.keptRequests(), shard -> maker.make(shard, setup.tierBlocks(shard)), network.sending(),
        setup.lifecycle(), network.timers());
    long generation = Instant.now().toEpochMilli();
    ByteBudget budget = new ByteBudget("prefill", BUDGET_BYTES, 64);
    this.servers = IntStream.range(0, setup.prefill().shards().size())
        .mapToObj(rank -> serve(rank, generation, budget, network)).toList();
    for (KvServer server : servers) {
      ranks.add(new Registration(Side.PREFILL, new RankId(name, ranks.size()).since(generation), PROTOCOL_VERSION,
          setup.prefill().manifest(), new Endpoint("127.0.0.1", RegistryNode.port(server))));
    }
    this.registry = RegistryNode.client(registryPort, network);
    Flux.fromIterable(ranks).concatMap(registry::register).blockLast(PATIENCE);
    this.registered = Flux.fromIterable(ranks).flatMap(registry::stay, ranks.size(), 1).subscribe();
  }

  private KvServer serve(int rank, long generation, ByteBudget budget, Network network) {
    List<BlockTier> spaces = rank == 0 ? List.of(side.outlet(rank), side.auxOutlet()) : List.of(side.outlet(rank));
    return KvServer
        .bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), network.loops()), NodeSpaces.of(spaces), null,
            new DisaggServices(null, side.kept(rank)),
            KvServerOptions.builder().node("prefill rank " + rank).generation(generation).build(), budget,
            network.timers(), Schedulers.immediate())
        .blockOptional(PATIENCE).orElseThrow();
  }

  /// Requests that the ranks keep for decodes.
  long held() {
    return side.held();
  }

  /// Blocks of computed prompts that are in memory.
  long claimedBlocks() {
    return side.claimedBlocks();
  }

  @Override
  public synchronized Reply ask(Ask ask) {
    if (ask.kind() != Ask.Kind.PREFILL) {
      throw new IllegalArgumentException("kind must be PREFILL (was " + ask.kind() + ")");
    }
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
    if (setup.push()) {
      side.push(ask.request(), ask.tokens(), setup.pace(), timed);
    } else {
      side.compute(ask.request(), ask.tokens(), setup.pace(), timed);
    }
    return new Reply(null, clock.computeTimes());
  }

  @Override
  public void close() {
    registered.dispose();
    Flux.fromIterable(ranks).concatMap(rank -> registry.leave(rank.who())).onErrorComplete().then(registry.close())
        .block(PATIENCE); // the registry may have ended before
    Flux.fromIterable(servers).flatMap(KvServer::close).blockLast(PATIENCE);
    side.close();
  }
}
