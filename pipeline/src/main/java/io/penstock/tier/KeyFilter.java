package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Which of all keys a removal takes.
///
/// @param pattern the same in words that travel to a remote tier; null for all keys
/// @param test called outside every lock, with each key that is visible
public record KeyFilter(@Nullable String pattern, Predicate<BlockKey> test) {
  private static final KeyFilter ALL = new KeyFilter(null, key -> true);

  public KeyFilter {
    requireNonNull(test, "test");
  }

  /// Every key.
  public static KeyFilter all() {
    return ALL;
  }
}
