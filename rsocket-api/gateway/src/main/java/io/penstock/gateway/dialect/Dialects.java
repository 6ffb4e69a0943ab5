package io.penstock.gateway.dialect;

import java.net.URI;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/// The dialect of each pair: what the settings of its instances name, or else the gateway's own. Safe for use by
/// several threads.
public final class Dialects implements Dialect {
  private final DialectName otherwise;
  private final Map<DialectName, Dialect> dialects = new EnumMap<>(DialectName.class);

  /// @param otherwise the dialect of pairs whose instances name none
  /// @param client how legs reach engines
  /// @param metaserver where decode engines of the layer-wise dialect report
  /// @param metaserverUrl its URL as those engines reach it
  /// @param random the source of ids and rooms; ids must not be guessable where strangers reach the metaserver
  /// @param timer the clock of waits
  public Dialects(DialectName otherwise, EngineClient client, Metaserver metaserver, URI metaserverUrl,
      RandomGenerator random, Scheduler timer) {
    this.otherwise = otherwise;
    Legs legs = new Legs(client, random);
    dialects.put(DialectName.SINGLE, (request, pair) -> single(legs, request, pair));
    dialects.put(DialectName.NIXL_PULL, new SplitDialect(new NixlPullDialect(legs), pair -> true));
    dialects.put(DialectName.MOONCAKE,
        new SplitDialect(new MooncakeDialect(legs, new BootstrapIds(client, timer), timer), pair -> true));
    dialects.put(DialectName.NIXL_PUSH, new SplitDialect(new NixlPushDialect(legs, timer), pair -> true));
    dialects.put(DialectName.LAYERWISE,
        new SplitDialect(new LayerwiseDialect(legs, metaserver, metaserverUrl, timer),
            pair -> !LayerwiseDialect.readsBatches(pair)));
    dialects.put(DialectName.SGLANG, new SglangDialect(legs, client, random, timer));
  }

  /// One instance does both: the body goes as it is.
  private static Flux<AnswerEvent> single(Legs legs, EngineRequest request, EnginePair pair) {
    Leg leg = legs.leg(Leg.Role.BOTH, pair.decode(), request, legs.nextId(request), request.copy());
    return legs.decode(leg);
  }

  @Override
  public Flux<AnswerEvent> answer(EngineRequest request, EnginePair pair) {
    return Flux.defer(() -> named(nameOf(pair)).answer(request, pair));
  }

  /// The name of a pair's dialect.
  ///
  /// @throws RequestFailure if its two instances name different ones
  public DialectName nameOf(EnginePair pair) {
    Optional<DialectName> decode = pair.decode().dialect();
    if (pair.prefill() == null) {
      return DialectName.SINGLE;
    }
    Optional<DialectName> prefill = pair.prefill().dialect();
    if (prefill.isPresent() && decode.isPresent() && !prefill.equals(decode)) {
      throw RequestFailure.ofEngines("instances of a pair must speak one dialect", " (were " + prefill.get().word()
          + " at " + pair.prefill() + " and " + decode.get().word() + " at " + pair.decode() + ")");
    }
    return prefill.or(() -> decode).orElse(otherwise);
  }

  private Dialect named(DialectName name) {
    Dialect dialect = dialects.get(name);
    if (dialect == null) {
      throw new IllegalStateException("Dialect " + name.word() + " is missing.");
    }
    return dialect;
  }
}
