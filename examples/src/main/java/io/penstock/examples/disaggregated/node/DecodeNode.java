package io.penstock.examples.disaggregated.node;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.request.DecodeConnector;
import io.penstock.disagg.request.KvConnector;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import io.penstock.examples.disaggregated.rank.Decode;
import io.penstock.examples.disaggregated.rank.Generated;
import io.penstock.examples.disaggregated.rank.Instance;
import io.penstock.examples.disaggregated.rank.Prefilled;
import io.penstock.examples.disaggregated.rank.Sequence;
import io.penstock.wire.rank.RegistryClient;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/// A decode: an instance of the model, and the requests of its ranks. It finds the ranks of prefills in a registry, in
/// which its own ranks stay, too: each serves the blocks that it has finished, those of prompts and of answers, to the
/// prefills of later turns.
public final class DecodeNode implements Peer {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Setup setup;
  private final LongSupplier micros;
  private final Instance instance;
  private final RankTiers tiers;
  private final AuxBlocks aux;
  private final RegistryClient registry;
  private final RemoteRanks prefills;
  private final List<DecodeConnector> ranks;
  /// Turns whose blocks the ranks keep for the prefills of the next ones.
  private final List<PrefillConnector> kept;
  private final RankServers servers;
  private final Map<String, Open> open = new HashMap<>();

  /// A request that has begun.
  ///
  /// @param received null until it is asked for
  private record Open(Sequence sequence, DecodeSide side, LayerClock clock, int cachedTokens,
      @Nullable CompletableFuture<@Nullable Prefilled> received) {}

  /// @param name of the instance
  /// @param registryPort where the registry listens
  public DecodeNode(String name, Setup setup, int registryPort, Network network, TierMaker maker, LongSupplier micros) {
    this.setup = setup;
    this.micros = micros;
    this.instance = new Instance(setup.decode(), setup.keptRequests(), setup.sequenceTokens());
    this.tiers = new RankTiers(setup.decode(), shard -> maker.make(shard, setup.tierBlocks(shard)));
    this.aux = new AuxBlocks(setup.decode().model(), setup.keptRequests());
    this.registry = RegistryNode.client(registryPort, network);
    this.prefills = new RemoteRanks(name, registry, network, this::gone);
    List<Incarnation> starts = IntStream.range(0, setup.decode().shards().size())
        .mapToObj(rank -> new RankId(name, rank)).map(rank -> rank.since(RegistryNode.claim(registry, rank))).toList();
    this.ranks = starts.stream().map(rank -> new DecodeConnector(rank, setup.lifecycle(), prefills.signals(),
        LifecycleListener.noop(), network.timers(), new Random())).toList();
    this.kept = setup.decode().shards().stream().map(shard -> new PrefillConnector(setup.lifecycle(),
        LifecycleListener.noop(), network.timers(), maker.requests(name + " rank " + shard.rank()))).toList();
    this.servers = new RankServers(Side.DECODE, name, setup.decode().manifest(),
        IntStream.range(0, ranks.size())
            .mapToObj(rank -> new RankServers.Served(List.of(tiers.tiers().get(rank)), kept.get(rank),
                starts.get(rank).generation()))
            .toList(),
        registry, network);
  }

  private void gone(Incarnation lost) {
    ranks.forEach(rank -> rank.gone(lost));
  }

  @Override
  public synchronized Reply ask(Ask ask) {
    return switch (ask.kind()) {
      case RECEIVE -> {
        open.put(ask.request(), begin(ask));
        yield Reply.DONE;
      }
      case DECODE -> decode(ask);
      case PREFILL -> throw new IllegalArgumentException("kind must be RECEIVE or DECODE (was PREFILL)");
    };
  }

  /// Pushed layers are asked for at once, pulled blocks when the prefill has them.
  private Open begin(Ask ask) {
    Sequence sequence = instance.open(ask.request());
    try {
      int cachedTokens = tiers.load(sequence, ask.tokens());
      LayerClock clock = new LayerClock(micros);
      DecodeSide side = new DecodeSide(sequence, aux, setup.prefill(),
          prefills.of(ask.prefill(), setup.decode().shards().getFirst().space(), aux.space(),
              source -> new TimedSource(source, clock)),
          ask.request(),
          ask.tokens(), cachedTokens);
      return new Open(sequence, side, clock, cachedTokens, setup.push() ? receive(side) : null);
    } catch (RuntimeException e) {
      sequence.close();
      throw e;
    }
  }

  private CompletableFuture<@Nullable Prefilled> receive(DecodeSide side) {
    return side.receive(setup.push(), ranks, setup.deadline()).toFuture();
  }

  private Reply decode(Ask ask) {
    Open request = requireNonNull(open.remove(ask.request()), "request");
    int[] prompt = ask.tokens();
    Prefilled prefilled = await(request.received() == null ? receive(request.side()) : request.received());
    try (Sequence sequence = request.sequence()) {
      sequence.finish(prompt.length);
      int draftLayers = sequence.model().config().draftLayers();
      Generated generated =
          Decode.of(sequence, new SpeculativeConfig(draftLayers, setup.tokens().guessed()), prompt.length,
              prefilled, setup.tokens().generated());
      int[] all = IntStream.concat(IntStream.of(prompt), generated.tokens().stream().mapToInt(token -> token))
          .toArray();
      int blockTokens = setup.decode().format().blockTokens();
      int[] computed = Arrays.copyOf(all, sequence.finalTokens() / blockTokens * blockTokens);
      tiers.store(sequence, computed, computed.length);
      for (int rank = 0; ask.goesOn() && rank < kept.size(); rank++) {
        kept.get(rank).open(ask.request(), tiers.leased(rank, computed));
      }
      return new Reply(Reply.Outcome.of(generated, request.cachedTokens(), request.side().tokenBytes(),
          request.clock().landedBytes(), computed.length), request.clock().transferTimes(), instance.weightBytes());
    }
  }

  private Prefilled await(CompletableFuture<@Nullable Prefilled> received) {
    try {
      return requireNonNull(received.get(setup.deadline().plus(PATIENCE).toMillis(), TimeUnit.MILLISECONDS),
          "prefilled");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("decode must not be interrupted", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("decode must receive all layers (was " + e + ")", e);
    }
  }

  /// Requests under way at the ranks, and their counts.
  List<DecodeConnector.Figures> figures() {
    return ranks.stream().map(DecodeConnector::figures).toList();
  }

  /// Blocks of requests that are in memory.
  synchronized long claimedBlocks() {
    return instance.claimedBlocks();
  }

  @Override
  public synchronized void close() {
    open.values().forEach(request -> {
      if (request.received() == null) {
        request.sequence().close();
      } else {
        request.received().cancel(true); // gives the memory up when the sources have drained
      }
    });
    Flux.fromIterable(ranks).concatMap(KvConnector::close).blockLast(PATIENCE);
    Flux.fromIterable(kept).concatMap(KvConnector::close).blockLast(PATIENCE);
    servers.close();
    prefills.close().then(registry.close()).block(PATIENCE);
    tiers.close();
    aux.close();
    instance.close();
  }
}
