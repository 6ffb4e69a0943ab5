package io.penstock.gateway.dialect;

import java.util.LinkedHashMap;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ObjectNode;

/// Makes the legs of an attempt and sends them.
final class Legs {
  static final String REQUEST_ID = "X-Request-Id";

  private final EngineClient client;

  Legs(EngineClient client) {
    this.client = client;
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
        ? client.events(leg).map(AnswerEvent.Chunk::new)
        : client.answer(leg).map(Legs::whole).flux();
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
