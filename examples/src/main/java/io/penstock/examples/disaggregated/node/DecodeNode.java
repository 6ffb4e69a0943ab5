package io.penstock.examples.disaggregated.node;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.request.DecodeConnector;
import io.penstock.disagg.request.KvConnector;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import io.penstock.examples.disaggregated.rank.Decode;
import io.penstock.examples.disaggregated.rank.Generated;
import io.penstock.examples.disaggregated.rank.Instance;
import io.penstock.examples.disaggregated.rank.Prefilled;
import io.penstock.examples.disaggregated.rank.Sequence;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.spi.ViewSource;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.rank.RankViews;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.rank.WireSignals;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A decode: an instance of the model, and the requests of its ranks. It finds the ranks of prefills in a registry, in
/// which its own ranks stay, too: each serves the blocks that it has finished.
public final class DecodeNode implements Peer {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final long BUDGET_BYTES = 64 << 20;
  private static final int MOST_WAITING = 1024;

  private final Setup setup;
  private final Network network;
  private final LongSupplier micros;
  private final Instance instance;
  private final RankTiers tiers;
  private final AuxBlocks aux;
  private final RegistryClient registry;
  private final WireSignals signals;
  private final List<DecodeConnector> ranks;
  private final ByteBudget budget = new ByteBudget("decode", BUDGET_BYTES, MOST_WAITING);
  private final Map<Incarnation, Endpoint> endpoints = new ConcurrentHashMap<>();
  private final RankViews views;
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
    this.network = network;
    this.micros = micros;
    this.instance = new Instance(setup.decode(), setup.keptRequests(), setup.sequenceTokens());
    this.tiers = new RankTiers(setup.decode(), shard -> maker.make(shard, setup.tierBlocks(shard)));
    this.aux = new AuxBlocks(setup.decode().model(), setup.keptRequests());
    this.registry = RegistryNode.client(registryPort, network);
    this.signals = new WireSignals(this::place, KvClientOptions.defaults(), KvPeerOptions.defaults(), network.timers(),
        new Random());
    List<Incarnation> starts = IntStream.range(0, setup.decode().shards().size())
        .mapToObj(rank -> new RankId(name, rank)).map(rank -> rank.since(RegistryNode.claim(registry, rank))).toList();
    this.ranks = starts.stream().map(rank -> new DecodeConnector(rank, setup.lifecycle(), signals,
        LifecycleListener.noop(), network.timers(), new Random())).toList();
    this.views = new RankViews(this::place, KvClientOptions.defaults(), KvPeerOptions.defaults(), budget,
        this::gone, network.timers(), new Random());
    this.servers = new RankServers(Side.DECODE, name, setup.decode().manifest(),
        IntStream.range(0, ranks.size())
            .mapToObj(rank -> new RankServers.Served(List.of(tiers.tiers().get(rank)), ranks.get(rank),
                starts.get(rank).generation()))
            .toList(),
        registry, network);
  }

  private void gone(Incarnation lost) {
    ranks.forEach(rank -> rank.gone(lost));
    signals.forget(lost).onErrorComplete().subscribe();
  }

  private Mono<ClientTransport> place(Incarnation rank) {
    return Mono.justOrEmpty(endpoints.get(rank)).map(this::transport);
  }

  private ClientTransport transport(Endpoint endpoint) {
    return TcpTransport.client(TcpClientOptions.to(endpoint.host(), endpoint.port()), network.loops());
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
      DecodeSide side = new DecodeSide(sequence, aux, setup.prefill(), sources(ask.prefill(), clock), ask.request(),
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

  /// The ranks of a prefill, where the registry says that they are.
  private DecodeSide.Sources sources(String prefill, LayerClock clock) {
    InstanceView view = registry.ready(prefill, PATIENCE).blockOptional(PATIENCE).orElseThrow();
    view.ranks().forEach(rank -> endpoints.put(rank.who(), rank.endpoint()));
    return new DecodeSide.Sources() {
      @Override
      public Incarnation rank(int number) {
        return view.rank(number).map(Registered::who).orElseThrow();
      }

      @Override
      public Mono<ViewSource> cache(int number) {
        return views.of(rank(number), setup.decode().shards().getFirst().space())
            .map(connected -> new TimedSource(connected, clock));
      }

      @Override
      public Mono<ViewSource> aux() {
        return views.of(rank(0), aux.space()).cast(ViewSource.class);
      }
    };
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
      tiers.store(sequence, prompt, prompt.length / setup.decode().format().blockTokens() * setup.decode().format()
          .blockTokens());
      return new Reply(Reply.Outcome.of(generated, request.cachedTokens(), request.side().tokenBytes(),
          request.clock().landedBytes()), request.clock().transferTimes(), instance.weightBytes());
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
    servers.close();
    views.close().then(signals.close()).then(registry.close()).block(PATIENCE);
    tiers.close();
    aux.close();
    instance.close();
  }
}
