package io.penstock.lab.plan;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.BitSet;

/// The layers of a model whose cache is kept in blocks of one size, and what they need to continue from a position.
///
/// @param blockTokens tokens of a block
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

  /// The blocks that a load up to `tokens` needs: of a sliding window those of its last window, of a state the last
  /// one, else all.
  ///
  /// @param tokens a multiple of [#blockTokens]
  public BitSet needed(int tokens) {
    int end = tokens / blockTokens;
    int first = switch (kind) {
      case FULL, LATENT, DRAFT -> 0;
      case SLIDING_WINDOW -> Math.max(0, tokens - windowTokens + 1) / blockTokens;
      case STATE -> Math.max(0, end - 1);
    };
    BitSet needed = new BitSet();
    needed.set(Math.min(first, end), end);
    return needed;
  }

  /// Whether the model can continue from `tokens` with the blocks that are `present`.
  ///
  /// @param tokens above 0, a multiple of `granule`
  /// @param granule a multiple of [#blockTokens]
  boolean fits(int tokens, int granule, BitSet present) {
    BitSet missing = needed(kind == Kind.DRAFT ? tokens + granule : tokens);
    missing.andNot(present);
    return missing.isEmpty();
  }
}
