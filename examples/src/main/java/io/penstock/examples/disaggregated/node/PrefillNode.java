package io.penstock.examples.disaggregated.node;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.request.DecodeConnector;
import io.penstock.disagg.request.KvConnector;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.examples.disaggregated.rank.Instance;
import io.penstock.examples.disaggregated.rank.PrefillSteps;
import io.penstock.examples.disaggregated.rank.Sequence;
import io.penstock.wire.rank.RegistryClient;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;

/// A prefill: an instance of the model, and a server for each rank, where decodes ask for its part of the cache, and
/// say that they are done. The ranks stay in a registry while the node lives.
public final class PrefillNode implements Peer {
  private static final Logger LOG = LoggerFactory.getLogger(PrefillNode.class);
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Setup setup;
  private final PrefillSide side;
  private final RegistryClient registry;
  private final RankServers servers;
  private final LongSupplier micros;
  private final RemoteRanks decodes;
  /// What the ranks receive from decodes, of earlier turns.
  private final List<DecodeConnector> received;

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
    List<Incarnation> starts = IntStream.range(0, setup.prefill().shards().size())
        .mapToObj(rank -> new RankId(name, rank)).map(rank -> rank.since(RegistryNode.claim(registry, rank))).toList();
    this.decodes = new RemoteRanks(name, registry, network, this::gone);
    this.received = starts.stream().map(rank -> new DecodeConnector(rank, setup.lifecycle(), decodes.signals(),
        LifecycleListener.noop(), network.timers(), new Random())).toList();
    this.servers = new RankServers(Side.PREFILL, name, setup.prefill().manifest(),
        IntStream.range(0, starts.size()).mapToObj(rank -> served(rank, starts.get(rank).generation())).toList(),
        registry, network);
  }

  private RankServers.Served served(int rank, long generation) {
    return new RankServers.Served(
        rank == 0 ? List.of(side.outlet(rank), side.auxOutlet()) : List.of(side.outlet(rank)), side.kept(rank),
        generation);
  }

  private void gone(Incarnation lost) {
    received.forEach(rank -> rank.gone(lost));
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
    Pull pull = new Pull(ask);
    try {
      compute(ask, pull, timed);
    } catch (PullFailedException e) {
      LOG.warn("computing what the decode of the turn before {} did not give", ask.request(), e.getCause());
      compute(ask, pull.without(), timed);
    }
    return new Reply(null, clock.computeTimes(), side.rankBytes(), pull.prefix, null);
  }

  private void compute(Ask ask, PrefillSide.More more, PrefillSteps timed) {
    if (setup.push()) {
      side.push(ask.request(), ask.tokens(), more, setup.pace(), timed);
    } else {
      side.compute(ask.request(), ask.tokens(), more, setup.pace(), timed);
    }
  }

  private static final class PullFailedException extends RuntimeException {
    PullFailedException(Throwable cause) {
      super(cause);
    }
  }

  /// Pulls what a decode computed in the turn before from its ranks, as a decode pulls a prompt: the planner does not
  /// care which side computes prompts.
  private final class Pull implements PrefillSide.More {
    private final Ask ask;
    private Reply.Prefix prefix = new Reply.Prefix(0, 0);

    Pull(Ask ask) {
      this.ask = ask;
    }

    @Override
    public int get(Sequence sequence, int cachedTokens) {
      EarlierTurn earlier = ask.earlier();
      if (earlier == null) {
        prefix = new Reply.Prefix(cachedTokens, 0);
        return cachedTokens;
      }
      int[] there = Arrays.copyOf(ask.tokens(), earlier.tokens());
      int cached = Math.min(cachedTokens, there.length); // the rest is no part of what the decode has
      try {
        new DecodeSide(sequence, setup.decode(),
            decodes.of(earlier.decode(), setup.prefill().shards().getFirst().space(), side.auxSpace(),
                UnaryOperator.identity()),
            earlier.request(), there, cached).pull(received, setup.deadline()).block(setup.deadline().plus(PATIENCE));
      } catch (RuntimeException e) {
        throw new PullFailedException(e);
      }
      prefix = new Reply.Prefix(cachedTokens, there.length - cached);
      return Math.max(cachedTokens, there.length);
    }

    /// The prefix without a pull.
    PrefillSide.More without() {
      return (sequence, cachedTokens) -> {
        prefix = new Reply.Prefix(cachedTokens, 0);
        return cachedTokens;
      };
    }
  }

  @Override
  public void close() {
    Flux.fromIterable(received).concatMap(KvConnector::close).blockLast(PATIENCE);
    servers.close();
    decodes.close().block(PATIENCE);
    registry.close().block(PATIENCE);
    side.close();
  }
}
