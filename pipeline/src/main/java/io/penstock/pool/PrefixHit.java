package io.penstock.pool;

import io.penstock.check.Checks;

/// How much of a request to load, and how much of it not to save again.
///
/// @param requestTokens tokens of the request
/// @param hitTokens tokens at its start that the pool has
/// @param deviceTokens tokens at its start that the device has already
public record PrefixHit(int requestTokens, int hitTokens, int deviceTokens) {
  public PrefixHit {
    Checks.notNegative("hitTokens", hitTokens);
    Checks.notNegative("deviceTokens", deviceTokens);
    if (requestTokens < Math.max(hitTokens, deviceTokens)) {
      throw new IllegalArgumentException("requestTokens must be >= the %d and %d found (was %d)".formatted(hitTokens,
          deviceTokens, requestTokens));
    }
  }

  /// Tokens that the engine need not compute, beyond those that the device has. The last token of a request is always
  /// computed, because its logits are what the request asks for: so a hit of the whole request counts one less.
  public int neededTokens() {
    return Math.max(0, Math.min(hitTokens, requestTokens - 1) - deviceTokens);
  }

  /// The end of the load. Blocks are loaded whole, so it is the hit, also if its last token is computed again; 0 if
  /// nothing is needed.
  public int loadEnd() {
    return neededTokens() == 0 ? 0 : hitTokens;
  }

  /// Tokens that need not be saved, because the pool has them.
  public int savedTokens() {
    return hitTokens;
  }
}
