package io.penstock.gateway.dialect;

import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ObjectNode;

/// Makes the legs of an attempt and sends them.
final class Legs {
  static final String REQUEST_ID = "X-Request-Id";
  private static final HexFormat HEX = HexFormat.of();

  private final EngineClient client;
  private final RandomGenerator random;

  /// @param random the source of ids
  Legs(EngineClient client, RandomGenerator random) {
    this.client = client;
    this.random = random;
  }

  /// The id of an attempt: the request's id and 128 random bits. An engine never sees an id twice, so a late message
  /// about one attempt cannot be taken for another, and no client can guess an id. All ids end with the same number of
  /// digits, so none is the beginning of another.
  String nextId(EngineRequest request) {
    return request.id() + "-" + HEX.toHexDigits(random.nextLong()) + HEX.toHexDigits(random.nextLong());
  }

  Leg leg(Leg.Role role, EngineAddress engine, EngineRequest request, String id, ObjectNode body) {
    return new Leg(role, engine, request.path(), headers(request, id), body);
  }

  static Map<String, String> headers(EngineRequest request, String id) {
    Map<String, String> headers = new LinkedHashMap<>(request.headers());
    headers.put(REQUEST_ID, id);
    return headers;
  }

  /// The answer of a leg that decodes, without what it says about transfers. An answer that the engine ended early is a
  /// [LegFailure].
  Flux<AnswerEvent> decode(Leg leg) {
    Flux<AnswerEvent> events = leg.body().path("stream").asBoolean(false)
        ? client.events(leg).map(AnswerEvent.Chunk::new) : client.answer(leg).map(Legs::whole).flux();
    return events.handle((event, sink) -> {
      String early = EarlyEnd.in(event);
      if (early == null) {
        sink.next(event);
      } else {
        sink.error(LegFailure.broken(leg, "ended its answer early: " + early, null));
      }
    });
  }

  private static AnswerEvent whole(ObjectNode body) {
    body.remove("kv_transfer_params");
    return new AnswerEvent.Whole(body);
  }

  Mono<ObjectNode> prefill(Leg leg) {
    return client.answer(leg);
  }
}
