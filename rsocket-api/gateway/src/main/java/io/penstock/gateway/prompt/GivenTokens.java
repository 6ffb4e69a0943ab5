package io.penstock.gateway.prompt;

import io.penstock.check.Checks;
import io.penstock.gateway.choice.PromptBlocks;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/// The token ids that a completion request has in the place of a text.
public final class GivenTokens implements PromptTokens {
  private final int blockTokens;

  /// @param blockTokens tokens of a block
  public GivenTokens(int blockTokens) {
    this.blockTokens = Checks.positive("blockTokens", blockTokens);
  }

  @Override
  public Mono<NamedPrompt> of(PromptRequest request) {
    JsonNode prompt = request.prompt();
    if (request.isChat() || !prompt.isArray() || prompt.isEmpty()) {
      return Mono.empty();
    }
    int[] tokens = new int[prompt.size()];
    int count = 0;
    for (JsonNode token : prompt) {
      if (!token.isIntegralNumber() || !token.canConvertToInt()) {
        return Mono.empty(); // the engine refuses the request
      }
      tokens[count++] = token.asInt();
    }
    return Mono.just(new NamedPrompt(PromptBlocks.names(request.root(), tokens, blockTokens), tokens.length, true));
  }
}
