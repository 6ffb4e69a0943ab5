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

  /// The answer of a leg that decodes.
  Flux<AnswerEvent> decode(Leg leg) {
    if (leg.body().path("stream").asBoolean(false)) {
      return client.events(leg).map(AnswerEvent.Chunk::new);
    }
    return client.answer(leg).<AnswerEvent>map(AnswerEvent.Whole::new).flux();
  }

  Mono<ObjectNode> prefill(Leg leg) {
    return client.answer(leg);
  }
}
