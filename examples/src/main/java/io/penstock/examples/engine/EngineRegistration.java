package io.penstock.examples.engine;

import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Engine;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.examples.engine.transformer.EngineRole;
import io.penstock.examples.engine.transformer.ToyTransformer;
import io.penstock.operator.LiveTimers;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.transport.Endpoint;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// An engine in the registry of a node, by which gateways find it: a rank of an instance of its own that names its HTTP
/// endpoint.
final class EngineRegistration {
  private static final Logger LOG = LoggerFactory.getLogger(EngineRegistration.class);
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final LoopResources loops = LoopResources.create("engine-registry", 1, true);
  private final Scheduler timers = LiveTimers.of(Schedulers.newSingle("engine-registry-timers", true));
  private final AtomicLong generation = new AtomicLong();
  private final RankId rank;
  private final Registration described;
  private final RegistryClient client;
  private final Disposable staying;
  private volatile boolean isDraining;

  /// Registers until it is [closed][#close].
  ///
  /// @param registries nodes that keep the registry, the preferred one first; at least one
  /// @param name of the instance
  /// @param url where gateways reach the engine
  /// @param blocks where it hands blocks over, as `host:port`
  EngineRegistration(List<Endpoint> registries, String name, EngineRole role, URI url, String blocks,
      ToyTransformer model) {
    this.rank = new RankId(name, 0);
    int colon = blocks.lastIndexOf(':');
    this.described = new Registration(role == EngineRole.DECODE ? Side.DECODE : Side.PREFILL, rank.since(0),
        Routes.VERSION, Manifest.of(model.name(), model.space().layout(), Parallelism.ofTp(1)),
        new Registration.Endpoint(blocks.substring(0, colon).replaceAll("[\\[\\]]", ""),
            Integer.parseInt(blocks.substring(colon + 1))),
        new Engine(Engine.Role.valueOf(role.name()), url.toString(), false));
    this.client = RegistryClient.of(registries, null, loops, KvClientOptions.defaults(), timers,
        RandomGenerator.getDefault());
    String asked = registries.stream().map(Endpoint::toString).collect(Collectors.joining(", "));
    this.staying = client.stay(rank, 0, (given, place) -> registration(given),
        lost -> LOG.warn("registry {} does not answer: the engine keeps trying ({})", asked, lost.getMessage()))
        .subscribe(view -> {}, refusal -> LOG.error("registry {} refuses the engine: {}", asked,
            refusal.getMessage()));
  }

  private Registration registration(long given) {
    generation.set(given);
    Engine engine = described.engine();
    return new Registration(described.side(), rank.since(given), described.version(), described.manifest(),
        described.endpoint(),
        engine == null ? null : new Engine(engine.role(), engine.url(), isDraining));
  }

  /// Asks gateways for no new requests. Completes when the registry knows it, or does not answer.
  Mono<Void> drain() {
    return Mono.defer(() -> {
      isDraining = true;
      return client.register(registration(generation.get())).timeout(PATIENCE, timers).then().onErrorComplete();
    });
  }

  /// Leaves the registry.
  Mono<Void> close() {
    return Mono.defer(() -> {
      staying.dispose();
      return client.leave(rank.since(generation.get())).timeout(PATIENCE, timers).onErrorComplete()
          .then(client.close()).then(Mono.fromRunnable(timers::dispose))
          .then(loops.disposeLater(Duration.ZERO, PATIENCE));
    });
  }
}
