package io.penstock.examples.disaggregated;

import static java.util.Objects.requireNonNull;

import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import io.penstock.flow.PullBlocks.Lane;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.KvClientOptions;
import io.penstock.wire.RemoteViews;
import io.penstock.wire.transport.TcpClientOptions;
import io.penstock.wire.transport.TcpTransport;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/// A decode: an instance of the model, and connections to the ranks of the prefill nodes.
final class DecodeNode implements Peer {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final long BUDGET_BYTES = 64 << 20;
  private static final int MOST_WAITING = 1024;

  private final Setup setup;
  private final Network network;
  private final LongSupplier micros;
  private final Instance instance;
  private final RankTiers tiers;
  private final ByteBudget budget = new ByteBudget("decode", BUDGET_BYTES, MOST_WAITING);
  private final Map<Integer, RemoteViews> connections = new HashMap<>();
  private final Map<String, Open> open = new HashMap<>();

  /// A request that has begun.
  private record Open(Sequence sequence, DecodeSide side, LayerClock clock, int cachedTokens,
      CompletableFuture<@Nullable Void> received) {}

  DecodeNode(Setup setup, Network network, TierMaker maker, LongSupplier micros) {
    this.setup = setup;
    this.network = network;
    this.micros = micros;
    this.instance = new Instance(setup.decode(), setup.requests(), setup.sequenceTokens());
    this.tiers = new RankTiers(setup.decode(), shard -> maker.make(shard, setup.tierBlocks(shard)));
  }

  @Override
  public synchronized Reply ask(Ask ask) {
    return switch (ask.kind()) {
      case RECEIVE -> {
        open.put(ask.request(), begin(ask));
        yield Reply.DONE;
      }
      case DECODE -> decode(ask);
      case PREFILL, RELEASE -> throw new IllegalArgumentException("kind must be RECEIVE or DECODE (was "
          + ask.kind() + ")");
    };
  }

  /// Pushed layers are asked for at once, pulled blocks when the prefill has them.
  private Open begin(Ask ask) {
    Sequence sequence = instance.open(ask.request());
    int cachedTokens = tiers.load(sequence, ask.tokens());
    LayerClock clock = new LayerClock(micros);
    Map<Integer, Lane> lanes = new HashMap<>();
    DecodeSide side = new DecodeSide(sequence, setup.prefill(),
        rank -> lanes.computeIfAbsent(rank, missing -> lane(ask.ports().get(rank), clock)), ask.request(),
        ask.prompt().size(), cachedTokens);
    CompletableFuture<@Nullable Void> received =
        setup.push() ? side.receive().then().toFuture() : CompletableFuture.completedFuture(null);
    return new Open(sequence, side, clock, cachedTokens, received);
  }

  private Lane lane(int port, LayerClock clock) {
    RemoteViews views = connections.computeIfAbsent(port,
        missing -> RemoteViews.connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), network.loops()),
            KvClientOptions.defaults(), setup.decode().shards().getFirst().space(), budget)
            .blockOptional(PATIENCE).orElseThrow());
    return new Lane(new TimedSource(views, clock), MOST_WAITING);
  }

  private Reply decode(Ask ask) {
    Open request = requireNonNull(open.remove(ask.request()), "request");
    int[] prompt = ask.tokens();
    try (Sequence sequence = request.sequence()) {
      if (!setup.push()) {
        request.side().pull(prompt).blockLast(PATIENCE);
      }
      await(request.received());
      sequence.finish(prompt.length);
      int draftLayers = sequence.model().config().draftLayers();
      Generated generated = Decode.of(sequence, new SpeculativeConfig(draftLayers, setup.draftTokens()), prompt.length,
          requireNonNull(ask.aux(), "aux").prefilled(), setup.newTokens());
      tiers.store(sequence, prompt, prompt.length / setup.decode().format().blockTokens() * setup.decode().format()
          .blockTokens());
      return Reply.of(Reply.Outcome.of(generated, request.cachedTokens(), request.clock().landedBytes()),
          request.clock().transferTimes());
    }
  }

  private static void await(CompletableFuture<@Nullable Void> received) {
    try {
      received.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("decode must not be interrupted", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("all layers must come (was " + e + ")", e);
    }
  }

  @Override
  public synchronized void close() {
    open.values().forEach(request -> {
      request.received().cancel(true);
      request.sequence().close();
    });
    Flux.fromIterable(List.copyOf(connections.values())).flatMap(RemoteViews::close).blockLast(PATIENCE);
    tiers.close();
    instance.close();
  }
}
