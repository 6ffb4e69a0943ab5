package io.penstock.node.trace;

import io.netty.util.collection.LongObjectHashMap;
import io.penstock.check.Checks;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import java.util.Optional;

/// Totals of the requests of a trace, and its ceiling: the hits of a cache that never evicts.
///
/// Keeps the distinct ids, about 25 bytes each. One thread at a time.
public final class TraceTotals {
  private final int blockTokens;
  private final LongObjectHashMap<Boolean> ids = new LongObjectHashMap<>();
  private long requests;
  private long references;
  private long promptTokens;
  private long prefixHits;
  private long reusableTokens;
  private long leastBlocks;
  private long mostBlocks;

  /// @param blockTokens tokens of a block
  public TraceTotals(int blockTokens) {
    this.blockTokens = Checks.positive("blockTokens", blockTokens);
  }

  public void add(TraceRequest request) {
    requests++;
    references += request.blocks();
    promptTokens += request.inputTokens();
    leastBlocks += request.inputTokens() / blockTokens;
    mostBlocks += Math.ceilDiv(request.inputTokens(), blockTokens);
    int prefix = 0;
    for (int i = 0; i < request.blocks(); i++) {
      boolean isKnown = ids.put(mixed(request.hashIds().get(i)), Boolean.TRUE) != null;
      prefix += isKnown && prefix == i ? 1 : 0;
    }
    prefixHits += prefix;
    reusableTokens += request.tokens(prefix, blockTokens);
  }

  /// Another number for each id (the finalizer of MurmurHash3): the map probes one slot after the other, and ids that
  /// differ in their upper half alone would share a slot.
  private static long mixed(long id) {
    long x = (id ^ (id >>> 33)) * 0xff51afd7ed558ccdL;
    x = (x ^ (x >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return x ^ (x >>> 33);
  }

  public int blockTokens() {
    return blockTokens;
  }

  public long requests() {
    return requests;
  }

  /// References to blocks.
  public long references() {
    return references;
  }

  /// Tokens of all prompts.
  public long promptTokens() {
    return promptTokens;
  }

  /// Different blocks: a cache of as many evicts none.
  public long distinctBlocks() {
    return ids.size();
  }

  /// Hits of a cache that never evicts: every reference but the first of each block.
  public long ceilingHits() {
    return references - ids.size();
  }

  /// Hits of a cache that never evicts, as a share of the references.
  public double ceiling() {
    return references == 0 ? 0 : (double) ceilingHits() / references;
  }

  /// Blocks of the prefixes that a cache that never evicts has, as a share of the references.
  public double prefixCeiling() {
    return references == 0 ? 0 : (double) prefixHits / references;
  }

  /// Tokens of the prefixes that a cache that never evicts has.
  public long reusableTokens() {
    return reusableTokens;
  }

  /// A sentence for a person, if the lengths of the prompts tell another number of tokens a block.
  public Optional<String> doubt() {
    boolean agrees = references <= 1.25 * mostBlocks && references >= 0.75 * leastBlocks;
    return agrees || promptTokens == 0 || references == 0
        ? Optional.empty()
        : Optional.of("prompts of %s in %s are about %s a block, not %s: --block-tokens states them".formatted(
            Plural.of(promptTokens, "token"), Plural.of(references, "block"),
            Plural.of(Math.max(1, Math.round((double) promptTokens / references)), "token"), Numbers.of(blockTokens)));
  }
}
