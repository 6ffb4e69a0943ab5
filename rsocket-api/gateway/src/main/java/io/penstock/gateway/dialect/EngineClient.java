package io.penstock.gateway.dialect;

import java.net.URI;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// How legs reach engines. A cancel closes the leg's connection at once, which is how vLLM is told to abort.
public interface EngineClient {
  /// The JSON of the `data:` lines of a streamed answer. Completes when the engine wrote `[DONE]`; a stream that ends
  /// without it, or with an error event, is a [LegFailure].
  Flux<String> events(Leg leg);

  /// A whole answer, or a [LegFailure].
  Mono<ObjectNode> answer(Leg leg);

  /// The JSON of a page with status 200. Any other outcome is an error.
  Mono<JsonNode> get(URI uri);

  /// Posts a message whose answer does not matter. Completes when the engine answered with a status below 400.
  Mono<Void> post(URI uri, ObjectNode message);
}
