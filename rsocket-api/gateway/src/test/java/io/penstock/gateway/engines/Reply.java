package io.penstock.gateway.engines;

import reactor.core.publisher.Flux;
import tools.jackson.databind.JsonNode;

/// What an engine answers: a status and the parts of the body in their order.
public record Reply(int status, String type, Flux<String> parts) {
  public static Reply json(int status, JsonNode body) {
    return new Reply(status, "application/json", Flux.just(Tree.text(body)));
  }

  static Reply events(Flux<JsonNode> chunks) {
    return new Reply(200, "text/event-stream",
        chunks.map(chunk -> "data: " + Tree.text(chunk) + "\n\n").concatWithValues("data: [DONE]\n\n"));
  }
}
