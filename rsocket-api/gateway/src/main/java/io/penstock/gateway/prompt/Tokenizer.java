package io.penstock.gateway.prompt;

import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ObjectNode;

/// Makes tokens of a text, as an engine does.
public interface Tokenizer {
  /// The tokens of a prompt.
  ///
  /// @param request of the form of vLLM's `/tokenize`
  /// @return token ids; an error if the engine does not give them
  Mono<int[]> tokens(ObjectNode request);
}
