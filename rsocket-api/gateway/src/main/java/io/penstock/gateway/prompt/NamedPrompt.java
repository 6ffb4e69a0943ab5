package io.penstock.gateway.prompt;

import io.penstock.gateway.choice.Prompt;
import org.jspecify.annotations.Nullable;

/// The blocks of a prompt by name.
///
/// @param names of the whole blocks, see [io.penstock.gateway.choice.PromptBlocks]
/// @param tokens of the prompt, estimated unless `isExact`
/// @param isExact whether the names are those of tokens, so that they meet the names of engines' events
@SuppressWarnings("ArrayRecordComponent") // read in place: a long prompt has thousands of blocks
public record NamedPrompt(long[] names, long tokens, boolean isExact) {
  /// What a choice knows of the request.
  ///
  /// @param blockTokens tokens of a block
  /// @param bytes of the request's body
  public Prompt prompt(int blockTokens, long bytes, @Nullable String session) {
    return new Prompt(names, blockTokens, tokens, bytes, session);
  }
}
