package io.penstock.node.cli;

import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Names values as the command line does.
public final class Flag {
  private static final Pattern REFUSAL = Pattern.compile("(?s)([a-z]+(?:\\.[a-z]+)*)( must .*)");

  private Flag() {}

  /// Result of `made`. Errors name the flags of the values: *block.bytes must be …* becomes
  /// *--block-bytes must be …*.
  ///
  /// @throws IllegalArgumentException if `made` refuses one of them
  public static <T> T named(Supplier<T> made) {
    try {
      return made.get();
    } catch (IllegalArgumentException e) {
      Matcher refusal = REFUSAL.matcher(String.valueOf(e.getMessage()));
      throw refusal.matches()
          ? new IllegalArgumentException("--" + refusal.group(1).replace('.', '-') + refusal.group(2), e)
          : e;
    }
  }

  /// Refuses an option that would otherwise be ignored without notice.
  ///
  /// @param value of the option; null if it was left out
  /// @throws IllegalArgumentException if it was given
  public static void requireLeftOut(String flag, @Nullable Object value, String when) {
    if (value != null) {
      throw new IllegalArgumentException(flag + " must be left out " + when + " (was " + value + ")");
    }
  }
}
