package io.penstock.gateway.dialect;

import java.time.Duration;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.node.ObjectNode;

/// Both legs at once with the same body and the same bootstrap room. Prefill ends after its first token by itself.
///
/// SGLang numbers the rooms of a list of prompts and of `n` choices upward from the room that it gets; rooms of other
/// requests therefore differ in the bits above. It goes on generating when its client has gone, so a cancel and a
/// failure send `POST /abort_request` to both.
///
/// Source: SGLang, `sgl-model-gateway/…/mini_lb.py`, `managers/io_struct.py`, `managers/scheduler.py`.
final class SglangDialect implements Dialect {
  private static final int BOOTSTRAP_PORT = 8998;
  /// Rooms that one request may use: 2^16.
  private static final int ROOM_BITS = 16;
  /// The time after which a request is aborted for the second time.
  private static final Duration AGAIN = Duration.ofMillis(500);

  private final Legs legs;
  private final EngineClient client;
  private final RandomGenerator random;
  private final Scheduler timer;

  SglangDialect(Legs legs, EngineClient client, RandomGenerator random, Scheduler timer) {
    this.legs = legs;
    this.client = client;
    this.random = random;
    this.timer = timer;
  }

  @Override
  public Flux<AnswerEvent> answer(EngineRequest request, EnginePair pair) {
    return Flux.defer(() -> {
      EngineAddress engine = pair.requirePrefill();
      requireRooms(request);
      return Flux.usingWhen(Mono.fromSupplier(() -> legs.nextId(request)), id -> both(request, engine, pair, id),
          id -> Mono.empty(), (id, failure) -> abort(pair, id), id -> abort(pair, id));
    });
  }

  private Flux<AnswerEvent> both(EngineRequest request, EngineAddress engine, EnginePair pair, String id) {
    ObjectNode body = request.copy();
    body.put("bootstrap_host", engine.setting(EngineAddress.BOOTSTRAP_HOST).orElse(engine.host()));
    body.put("bootstrap_port", engine.number(EngineAddress.BOOTSTRAP_PORT, BOOTSTRAP_PORT));
    body.put("bootstrap_room", random.nextLong() >>> (ROOM_BITS + 1) << ROOM_BITS);
    body.put("rid", id);
    ObjectNode computing = Json.object();
    computing.setAll(body);
    computing.put("stream", false).remove("stream_options");
    return TwoLegs.join(Mono.empty(),
        legs.prefill(legs.leg(Leg.Role.PREFILL, engine, request, id, computing)),
        legs.decode(legs.leg(Leg.Role.DECODE, pair.decode(), request, id, body)), timer);
  }

  /// Asks both engines to abort, now and once more later: an engine ignores the id of a request that it has not
  /// registered yet, because it still reads the prompt for example. The answer's failure does not wait for the second.
  private Mono<Void> abort(EnginePair pair, String id) {
    return post(pair, id).doFinally(signal -> later(pair, id));
  }

  private void later(EnginePair pair, String id) {
    Mono.delay(AGAIN, timer).then(post(pair, id)).subscribe();
  }

  /// An engine that cannot be asked has lost the connections of the legs anyway.
  private Mono<Void> post(EnginePair pair, String id) {
    ObjectNode message = Json.object().put("rid", id).put("abort_all", false);
    return Flux.just(pair.requirePrefill(), pair.decode())
        .flatMap(engine -> client.post(engine.at("/abort_request"), message).timeout(TwoLegs.PATIENCE, timer)
            .onErrorComplete(), 2, 1)
        .then();
  }

  private static void requireRooms(EngineRequest request) {
    long rooms = (long) request.prompts() * Math.max(1, request.body().path("n").asLong(1));
    if (rooms > 1 << ROOM_BITS) {
      throw RequestFailure.ofRequest(
          "prompts times n must be at most " + (1 << ROOM_BITS) + " (was " + rooms + ")", "n");
    }
  }
}
