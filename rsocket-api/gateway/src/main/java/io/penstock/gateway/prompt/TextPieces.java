package io.penstock.gateway.prompt;

import io.penstock.check.Checks;
import io.penstock.gateway.choice.PromptBlocks;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/// Takes a prompt's text in pieces of a fixed number of characters for its blocks. It is approximate: the names never
/// meet those of events, so an instance is known to have only what was sent to it through this gateway; and a token is
/// taken for [#CHARS_PER_TOKEN] characters.
public final class TextPieces implements PromptTokens {
  /// Characters of a token of English text with the tokenizers of today, as a rule of thumb.
  public static final int CHARS_PER_TOKEN = 4;

  private final int blockTokens;

  /// @param blockTokens tokens of a block; a piece has [#CHARS_PER_TOKEN] times as many characters
  public TextPieces(int blockTokens) {
    this.blockTokens = Checks.positive("blockTokens", blockTokens);
  }

  @Override
  public Mono<NamedPrompt> of(PromptRequest request) {
    return Mono.fromSupplier(() -> {
      CharSequence text = text(request);
      long tokens = ((long) text.length() + CHARS_PER_TOKEN - 1) / CHARS_PER_TOKEN;
      return new NamedPrompt(PromptBlocks.ofText(request.root(), text, blockTokens * CHARS_PER_TOKEN), tokens, false);
    });
  }

  /// Everything that an engine makes tokens of, in the order of a chat template: tools come first.
  private static CharSequence text(PromptRequest request) {
    StringBuilder text = new StringBuilder();
    if (request.isChat()) {
      if (!request.body().path("tools").isMissingNode()) {
        text.append(request.body().path("tools")).append('\n');
      }
      for (JsonNode message : request.body().path("messages")) {
        text.append(message.path("role").asString("")).append('\n');
        content(message.path("content"), text);
        if (!message.path("tool_calls").isMissingNode()) {
          text.append(message.path("tool_calls"));
        }
        text.append('\n');
      }
    } else {
      content(request.prompt(), text);
    }
    return text;
  }

  private static void content(JsonNode content, StringBuilder to) {
    if (content.isString()) {
      to.append(content.asString());
    } else if (content.isArray()) {
      for (JsonNode part : content) {
        to.append(part.path("text").isString() ? part.path("text").asString() : part.toString());
      }
    }
  }
}
