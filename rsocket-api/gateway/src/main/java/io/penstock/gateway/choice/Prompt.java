package io.penstock.gateway.choice;

import io.penstock.check.Checks;
import org.jspecify.annotations.Nullable;

/// What a choice knows of a request.
///
/// @param names of the whole blocks of the prompt, see [PromptBlocks]; none if its tokens are not known
/// @param blockTokens tokens of a block
/// @param tokens of the prompt, estimated if they are not known
/// @param bytes of the body
/// @param session that the request belongs to; null for none
@SuppressWarnings("ArrayRecordComponent") // read in place: a long prompt has thousands of blocks
public record Prompt(long[] names, int blockTokens, long tokens, long bytes, @Nullable String session) {
  public Prompt {
    Checks.positive("blockTokens", blockTokens);
    Checks.notNegative("tokens", tokens);
    Checks.notNegative("bytes", bytes);
  }
}
