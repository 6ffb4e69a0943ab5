package io.penstock.lab.plan;

import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.List;

/// The tokens of a request that one pool block of a group holds.
///
/// @param start first token
/// @param end token after the last; the last chunk of a request may be shorter than its block
/// @param hash position of its hash in the list of the request: the last of those that the block covers
public record PoolChunk(int start, int end, int hash) {
  /// Cuts a request into the chunks of a group. A chunk that is not covered by hashes is left out.
  ///
  /// @param tokens of the request
  /// @param hashes how many hashes the request has, one for every `hashTokens`
  /// @param blockTokens tokens of a block of the group, a multiple of `hashTokens`
  /// @param skipTokens chunks that begin before this token are left out
  public static List<PoolChunk> of(int tokens, int hashes, int blockTokens, int hashTokens, int skipTokens) {
    int covered = Checks.positive("blockTokens", blockTokens) / Checks.positive("hashTokens", hashTokens);
    if (blockTokens % hashTokens != 0) {
      throw new IllegalArgumentException(
          "blockTokens must be a multiple of the %d tokens of a hash (was %d)".formatted(hashTokens, blockTokens));
    }
    int count = Math.min(Checks.notNegative("hashes", hashes) / covered,
        Math.ceilDiv(Checks.notNegative("tokens", tokens), blockTokens));
    List<PoolChunk> chunks = new ArrayList<>();
    for (int first = Math.ceilDiv(Checks.notNegative("skipTokens", skipTokens), blockTokens); first < count; first++) {
      int start = first * blockTokens;
      chunks.add(new PoolChunk(start, Math.min(start + blockTokens, tokens), (first + 1) * covered - 1));
    }
    return chunks;
  }
}
