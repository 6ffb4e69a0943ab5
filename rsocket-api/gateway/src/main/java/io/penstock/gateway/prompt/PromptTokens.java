package io.penstock.gateway.prompt;

import java.util.List;
import reactor.core.publisher.Mono;

/// Knows the blocks of a prompt.
public interface PromptTokens {
  /// The blocks of a request's prompt; empty if they are not known this way. Never an error.
  Mono<NamedPrompt> of(PromptRequest request);

  /// Asks one after the other until one knows.
  static PromptTokens firstOf(List<PromptTokens> all) {
    List<PromptTokens> each = List.copyOf(all);
    return request -> {
      Mono<NamedPrompt> known = Mono.empty();
      for (PromptTokens one : each) {
        known = known.switchIfEmpty(Mono.defer(() -> one.of(request)));
      }
      return known;
    };
  }
}
