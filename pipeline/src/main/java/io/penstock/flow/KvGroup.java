package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.check.Checks;
import java.util.BitSet;

/// The layers of a model whose cache is kept in blocks of one size, and what they need to continue from a position.
///
/// @param blockTokens tokens from one block to the next
/// @param windowTokens how far back a token looks, itself included; 0 for a kind without a window
public record KvGroup(Kind kind, int blockTokens, int windowTokens) {
  /// Tokens that the layers look back at.
  public enum Kind {
    /// All tokens.
    FULL,
    /// All tokens, by latents that all ranks share (MLA).
    LATENT,
    /// The last `windowTokens` tokens.
    SLIDING_WINDOW,
    /// All tokens, in a draft model: it needs one granule behind the position, so it holds one back.
    DRAFT,
    /// A state that stands for all tokens so far, saved at some positions.
    STATE
  }

  public KvGroup {
    requireNonNull(kind, "kind");
    Checks.positive("blockTokens", blockTokens);
    Checks.notNegative("windowTokens", windowTokens);
    if ((kind == Kind.SLIDING_WINDOW) != (windowTokens > 0)) {
      throw new IllegalArgumentException(
          "windowTokens must be > 0 for a sliding window alone (was %d for %s)".formatted(windowTokens, kind));
    }
  }

  public static KvGroup of(Kind kind, int blockTokens) {
    return new KvGroup(kind, blockTokens, 0);
  }

  public static KvGroup slidingWindow(int blockTokens, int windowTokens) {
    return new KvGroup(Kind.SLIDING_WINDOW, blockTokens, windowTokens);
  }

  /// The group whose blocks `space` holds. A latent counts as full attention here: both need all blocks.
  public static KvGroup of(CacheSpace space) {
    BlockLayout layout = space.layout();
    CacheSpace.Group group = space.group();
    Kind kind = group.stateTokens() > 0 ? Kind.STATE : group.windowTokens() > 0 ? Kind.SLIDING_WINDOW : Kind.FULL;
    return new KvGroup(kind, group.strideTokens(layout), group.windowTokens());
  }

  /// The blocks that a load up to `tokens` needs: of a sliding window those of its last window, of a state the last
  /// one, else all.
  ///
  /// @param tokens a multiple of [#blockTokens]
  public BitSet needed(int tokens) {
    int end = tokens / blockTokens;
    BitSet needed = new BitSet();
    needed.set(Math.min(firstNeeded(tokens), end), end);
    return needed;
  }

  private int firstNeeded(int tokens) {
    return switch (kind) {
      case FULL, LATENT, DRAFT -> 0;
      case SLIDING_WINDOW -> Math.max(0, tokens - windowTokens + 1) / blockTokens;
      case STATE -> Math.max(0, tokens / blockTokens - 1);
    };
  }

  /// Whether the model can continue from `tokens` with the blocks that are `present`.
  ///
  /// @param tokens above 0, a multiple of `granule`
  /// @param granule a multiple of [#blockTokens]
  boolean fits(int tokens, int granule, BitSet present) {
    int read = kind == Kind.DRAFT ? tokens + granule : tokens;
    int end = read / blockTokens;
    int first = firstNeeded(read);
    return first >= end || present.nextClearBit(first) >= end;
  }

  /// A position at or below `from` beyond which the group cannot continue: where the first missing block begins, for a
  /// group that needs all blocks; else `from`.
  int bound(int from, int granule, BitSet present) {
    if (kind == Kind.SLIDING_WINDOW || kind == Kind.STATE) {
      return from;
    }
    long run = (long) present.nextClearBit(0) * blockTokens;
    return (int) Math.min(from, run / granule * granule);
  }
}
