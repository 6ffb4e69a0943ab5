package io.penstock.lab.plan;

import io.penstock.check.Checks;
import io.penstock.disagg.plan.KvRequest;

/// The blocks that a push sends after one step of a chunked prefill: whole ones only, until the last step sends the
/// rest of the prompt.
///
/// @param firstBlock of the prompt
/// @param endBlock after the last; not below `firstBlock`
public record PrefillChunk(int firstBlock, int endBlock) {
  public PrefillChunk {
    Checks.notNegative("firstBlock", firstBlock);
    if (endBlock < firstBlock) {
      throw new IllegalArgumentException("endBlock must be >= %d (was %d)".formatted(firstBlock, endBlock));
    }
  }

  /// @param computedTokens of the prompt, after the step
  /// @param sentTokens that earlier steps computed
  /// @param cachedTokens that decode had before
  /// @param last whether the prompt ends with this step
  public static PrefillChunk of(int computedTokens, int sentTokens, int cachedTokens, int blockTokens, boolean last) {
    int first = Math.max(cachedTokens, sentTokens) / Checks.positive("blockTokens", blockTokens);
    int end = last ? Math.ceilDiv(computedTokens, blockTokens) : computedTokens / blockTokens;
    return new PrefillChunk(first, Math.max(first, end));
  }

  /// The part of a request that the chunk is, to plan its transfers.
  public KvRequest of(KvRequest request, int blockTokens) {
    long end = Math.min(request.promptTokens(), (long) endBlock * blockTokens);
    long first = Math.min(end, Math.max(request.cachedTokens(), (long) firstBlock * blockTokens));
    return new KvRequest(request.id(), (int) end, (int) first);
  }
}
