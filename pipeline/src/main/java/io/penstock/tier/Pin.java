package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/// How a visible block is kept from eviction, whether it is read or not. A pinned block can be removed.
///
/// @param life of a soft pin, from the moment it is set, or from the commit; reads do not renew it. Zero for the tier's
///     default
public record Pin(Kind kind, Duration life) {
  public Pin {
    requireNonNull(kind, "kind");
    if (life.isNegative() || (!life.isZero() && kind != Kind.SOFT)) {
      throw new IllegalArgumentException("life must be >= 0, and 0 unless the pin is soft (was " + life + ")");
    }
  }

  /// What a pin does.
  public enum Kind {
    /// No pin.
    NONE,
    /// The block is evicted only when nothing else can be. Ends with its life.
    SOFT,
    /// The block is never evicted.
    HARD
  }

  /// Ends the pin that a block has.
  public static Pin none() {
    return new Pin(Kind.NONE, Duration.ZERO);
  }

  /// @param life zero for the tier's default
  public static Pin soft(Duration life) {
    return new Pin(Kind.SOFT, life);
  }

  public static Pin hard() {
    return new Pin(Kind.HARD, Duration.ZERO);
  }
}
