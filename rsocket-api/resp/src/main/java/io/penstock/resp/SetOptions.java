package io.penstock.resp;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/// The words behind the value of a SET.
///
/// @param when whether the value must be there already, or must not
/// @param untilMillis milliseconds since 1970 at which the value ends; 0 for never
/// @param keepsEnd whether it ends when the value that it replaces would have
record SetOptions(When when, long untilMillis, boolean keepsEnd) {
  private static final SetOptions NONE = new SetOptions(When.ALWAYS, 0, false);
  private static final int FIRST = 3;
  static final String NO_INTEGER = "ERR value is not an integer or out of range";
  private static final String SYNTAX = "ERR syntax error";

  /// On which condition a value is stored.
  enum When {
    ALWAYS, NEW, KNOWN
  }

  /// Whether `SET key value …` has any.
  static boolean isThere(List<byte[]> args) {
    return args.size() > FIRST;
  }

  /// Reads the options of `SET key value …`.
  ///
  /// @param nowMillis from which times to live count
  /// @throws IllegalArgumentException if they are none that Redis has; its message is that of Redis
  static SetOptions of(List<byte[]> args, long nowMillis) {
    SetOptions options = NONE;
    for (int i = FIRST; i < args.size(); i++) {
      String word = word(args.get(i));
      options = switch (word) {
        case "NX" -> options.only(When.NEW);
        case "XX" -> options.only(When.KNOWN);
        case "KEEPTTL" -> options.ending(0, true);
        case "EX", "PX", "EXAT", "PXAT" -> options.ending(end("set", word, number(args, ++i), nowMillis), false);
        default -> throw new IllegalArgumentException(SYNTAX);
      };
    }
    return options;
  }

  private SetOptions only(When when) {
    if (this.when != When.ALWAYS) {
      throw new IllegalArgumentException(SYNTAX);
    }
    return new SetOptions(when, untilMillis, keepsEnd);
  }

  private SetOptions ending(long millis, boolean keeps) {
    if (untilMillis != 0 || keepsEnd) {
      throw new IllegalArgumentException(SYNTAX);
    }
    return new SetOptions(when, millis, keeps);
  }

  static String word(byte[] argument) {
    return new String(argument, StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT);
  }

  private static long number(List<byte[]> args, int index) {
    if (index >= args.size()) {
      throw new IllegalArgumentException(SYNTAX);
    }
    return number(args.get(index));
  }

  /// @throws IllegalArgumentException with the message of Redis if `argument` is no number
  static long number(byte[] argument) {
    try {
      return Long.parseLong(word(argument));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(NO_INTEGER, e);
    }
  }

  /// When a value ends, in milliseconds since 1970.
  ///
  /// @param command in lower case, for the message
  /// @param unit `EX` and `PX` count from now on, in seconds and milliseconds; `EXAT` and `PXAT` are times
  /// @throws IllegalArgumentException with the message of Redis if there is no such time
  static long end(String command, String unit, long number, long nowMillis) {
    try {
      long millis = unit.startsWith("P") ? number : Math.multiplyExact(number, 1000L);
      long end = unit.endsWith("AT") ? millis : Math.addExact(nowMillis, millis);
      if (number > 0) {
        return end;
      }
    } catch (ArithmeticException e) {
      // as for a number that is too small
    }
    throw new IllegalArgumentException("ERR invalid expire time in '" + command + "' command");
  }
}
