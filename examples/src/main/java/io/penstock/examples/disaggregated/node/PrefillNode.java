package io.penstock.examples.disaggregated.node;

import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.examples.disaggregated.rank.Instance;
import io.penstock.examples.disaggregated.rank.PrefillSteps;
import io.penstock.wire.rank.RegistryClient;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/// A prefill: an instance of the model, and a server for each rank, where decodes ask for its part of the cache, and
/// say that they are done. The ranks stay in a registry while the node lives.
public final class PrefillNode implements Peer {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Setup setup;
  private final PrefillSide side;
  private final RegistryClient registry;
  private final RankServers servers;
  private final LongSupplier micros;

  /// @param name of the instance
  /// @param registryPort where the registry listens
  public PrefillNode(String name, Setup setup, int registryPort, Network network, TierMaker maker,
      LongSupplier micros) {
    this.setup = setup;
    this.micros = micros;
    this.side = new PrefillSide(new Instance(setup.prefill(), setup.keptRequests(), setup.sequenceTokens()),
        setup.keptRequests(), shard -> maker.make(shard, setup.tierBlocks(shard)), network.sending(),
        setup.lifecycle(), network.timers(), shard -> maker.requests(name + " rank " + shard.rank()));
    this.registry = RegistryNode.client(registryPort, network);
    this.servers = new RankServers(Side.PREFILL, name, setup.prefill().manifest(),
        IntStream.range(0, setup.prefill().shards().size())
            .mapToObj(rank -> served(rank, RegistryNode.claim(registry, new RankId(name, rank)))).toList(),
        registry, network);
  }

  private RankServers.Served served(int rank, long generation) {
    return new RankServers.Served(
        rank == 0 ? List.of(side.outlet(rank), side.auxOutlet()) : List.of(side.outlet(rank)), side.kept(rank),
        generation);
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
    return new Reply(null, clock.computeTimes(), side.rankBytes());
  }

  @Override
  public void close() {
    servers.close();
    registry.close().block(PATIENCE);
    side.close();
  }
}
