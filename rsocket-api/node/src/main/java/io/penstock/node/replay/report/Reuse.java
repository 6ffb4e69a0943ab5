package io.penstock.node.replay.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.trace.TraceTotals;
import org.jspecify.annotations.Nullable;

/// Work that the hits of a replay save an engine, beside the most that any cache could save, as it is written in JSON.
///
/// @param promptTokens tokens of all prompts
/// @param tokensReused tokens of the prefixes that hit: an engine need not compute them
/// @param prefillTokensPerSecond tokens that an engine prefills in a second, as stated
/// @param prefillSeconds time that all prompts take at this rate
/// @param prefillSecondsSaved time that `tokensReused` take at this rate
/// @param ceiling the outcome of a cache that never evicts
/// @param doubt a sentence, if the prompts tell another number of tokens a block; absent else
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Reuse(long promptTokens, long tokensReused, double prefillTokensPerSecond, double prefillSeconds,
    double prefillSecondsSaved, Ceiling ceiling, @Nullable String doubt) {
  /// @param distinctBlocks different blocks: as many fill the cache
  /// @param distinctBytes their bytes of the model
  /// @param hits references to a block that was referenced before
  /// @param hitRate `hits` of all references
  /// @param tokensReused tokens of the prefixes that hit
  /// @param prefillSecondsSaved time that they take
  public record Ceiling(long distinctBlocks, long distinctBytes, long hits, double hitRate, long tokensReused,
      double prefillSecondsSaved) {}

  /// @param totals of the requests that ended
  /// @param tokensReused by them
  public static Reuse of(ModelSize size, TraceTotals totals, long tokensReused) {
    return new Reuse(totals.promptTokens(), tokensReused, size.prefillRate(), size.seconds(totals.promptTokens()),
        size.seconds(tokensReused),
        new Ceiling(totals.distinctBlocks(), size.bytes(totals.distinctBlocks()), totals.ceilingHits(),
            Math.round(totals.ceiling() * 1e6) / 1e6, totals.reusableTokens(), size.seconds(totals.reusableTokens())),
        totals.doubt().orElse(null));
  }

  /// `tokensReused` as a share of `promptTokens`.
  double share() {
    return (double) tokensReused / Math.max(1, promptTokens);
  }
}
