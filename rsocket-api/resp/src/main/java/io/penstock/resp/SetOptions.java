package io.penstock.resp;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// The words behind the value of a SET.
///
/// @param when whether the value must be there already, or must not
/// @param untilMillis milliseconds since 1970 at which the value ends; 0 for never
/// @param keepsEnd whether it ends when the value that it replaces would have
record SetOptions(When when, long untilMillis, boolean keepsEnd) {
  private static final SetOptions NONE = new SetOptions(When.ALWAYS, 0, false);
  private static final int FIRST = 3;

  /// On which condition a value is stored.
  enum When {
    ALWAYS, NEW, KNOWN
  }

  /// Reads the options of `SET key value …`.
  ///
  /// @param nowMillis from which times to live count
  /// @return empty if they are none that Redis has
  static Optional<SetOptions> of(List<byte[]> args, long nowMillis) {
    SetOptions options = NONE;
    try {
      for (int i = FIRST; i < args.size(); i++) {
        String word = word(args.get(i));
        options = switch (word) {
          case "NX" -> options.only(When.NEW);
          case "XX" -> options.only(When.KNOWN);
          case "KEEPTTL" -> options.ending(0, true);
          case "EX", "PX", "EXAT", "PXAT" -> options.ending(end(word, number(args, ++i), nowMillis), false);
          default -> throw new IllegalArgumentException();
        };
      }
      return Optional.of(options);
    } catch (IllegalArgumentException | ArithmeticException e) {
      return Optional.empty();
    }
  }

  private SetOptions only(When when) {
    if (this.when != When.ALWAYS) {
      throw new IllegalArgumentException();
    }
    return new SetOptions(when, untilMillis, keepsEnd);
  }

  private SetOptions ending(long millis, boolean keeps) {
    if (untilMillis != 0 || keepsEnd) {
      throw new IllegalArgumentException();
    }
    return new SetOptions(when, millis, keeps);
  }

  static String word(byte[] argument) {
    return new String(argument, StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT);
  }

  private static long number(List<byte[]> args, int index) {
    if (index >= args.size()) {
      throw new IllegalArgumentException();
    }
    return Long.parseLong(word(args.get(index)));
  }

  /// When a value ends, in milliseconds since 1970.
  ///
  /// @param unit `EX` and `PX` count from now on, in seconds and milliseconds; `EXAT` and `PXAT` are times
  static long end(String unit, long number, long nowMillis) {
    if (number <= 0) {
      throw new IllegalArgumentException();
    }
    long millis = unit.startsWith("P") ? number : Math.multiplyExact(number, 1000L);
    return unit.endsWith("AT") ? millis : Math.addExact(nowMillis, millis);
  }
}
