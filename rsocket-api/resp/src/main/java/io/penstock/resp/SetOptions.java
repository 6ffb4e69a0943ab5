package io.penstock.resp;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// What a request that brings a value asks for beside it: the words behind the value of a `SET`, or what another
/// command means by its name.
///
/// @param when whether the value must be there already, or must not
/// @param untilMillis milliseconds since 1970 at which the value ends; 0 for never
/// @param keepsEnd whether it ends when the value that it replaces would have
/// @param isNumber whether the client hears 1 or 0, not `OK` or nil
record SetOptions(When when, long untilMillis, boolean keepsEnd, boolean isNumber) {
  private static final SetOptions NONE = new SetOptions(When.ALWAYS, 0, false, false);
  private static final int FIRST = 3;
  static final String NO_INTEGER = "ERR value is not an integer or out of range";
  static final String SYNTAX = "ERR syntax error";

  /// On which condition a value is stored.
  enum When {
    ALWAYS, NEW, KNOWN
  }

  /// Reads the options of a request.
  ///
  /// @param args as many as the command needs
  /// @param nowMillis from which times to live count
  /// @throws IllegalArgumentException if they are none that Redis has; its message is that of Redis
  static SetOptions of(List<byte[]> args, long nowMillis) {
    if (ValueCommands.isPlainSet(args.getFirst(), args.size())) {
      return NONE;
    }
    String command = word(args.getFirst());
    return switch (command) {
      case "SETNX" -> new SetOptions(When.NEW, 0, false, true);
      case "SETEX" -> new SetOptions(When.ALWAYS, end(command, "EX", number(args.get(2)), nowMillis), false, false);
      case "PSETEX" ->
        new SetOptions(When.ALWAYS, end(command, "PX", number(args.get(2)), nowMillis), false, false);
      default -> words(args, nowMillis);
    };
  }

  private static SetOptions words(List<byte[]> args, long nowMillis) {
    When when = When.ALWAYS;
    String ending = "";
    byte[] time = null;
    for (int i = FIRST; i < args.size(); i++) {
      String word = word(args.get(i));
      switch (word) {
        case "NX" -> when = same(when == When.ALWAYS, when, When.NEW);
        case "XX" -> when = same(when == When.ALWAYS, when, When.KNOWN);
        case "KEEPTTL" -> ending = same(ending.isEmpty(), ending, word);
        case "EX", "PX", "EXAT", "PXAT" -> {
          ending = same(ending.isEmpty(), ending, word);
          time = ++i < args.size() ? args.get(i) : null;
          if (time == null) {
            throw new IllegalArgumentException(SYNTAX);
          }
        }
        default -> throw new IllegalArgumentException(SYNTAX);
      }
    }
    long until = time == null ? 0 : end("set", ending, number(time), nowMillis);
    return new SetOptions(when, until, ending.equals("KEEPTTL"), false);
  }

  /// A word may be said twice, but no other one of its kind.
  private static <T> T same(boolean isFirst, T before, T now) {
    if (!isFirst && !now.equals(before)) {
      throw new IllegalArgumentException(SYNTAX);
    }
    return now;
  }

  static String word(byte[] argument) {
    return new String(argument, StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT);
  }

  /// @throws IllegalArgumentException with the message of Redis if `argument` is no number
  static long number(byte[] argument) {
    String text = word(argument);
    try {
      long number = Long.parseLong(text);
      if (Long.toString(number).equals(text)) { // neither +1 nor 01
        return number;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(NO_INTEGER, e);
    }
    throw new IllegalArgumentException(NO_INTEGER);
  }

  /// When a value ends, in milliseconds since 1970.
  ///
  /// @param command for the message
  /// @param unit `EX` and `PX` count from now on, in seconds and milliseconds; `EXAT` and `PXAT` are times
  /// @throws IllegalArgumentException with the message of Redis if there is no such time
  static long end(String command, String unit, long number, long nowMillis) {
    if (number <= 0) {
      throw noTime(command, null);
    }
    return time(command, unit, number, nowMillis);
  }

  /// As [#end]; the time may lie before now.
  static long time(String command, String unit, long number, long nowMillis) {
    try {
      long millis = unit.startsWith("P") ? number : Math.multiplyExact(number, 1000L);
      return unit.endsWith("AT") ? millis : Math.addExact(nowMillis, millis);
    } catch (ArithmeticException e) {
      throw noTime(command, e);
    }
  }

  private static IllegalArgumentException noTime(String command, @Nullable ArithmeticException cause) {
    return new IllegalArgumentException(
        "ERR invalid expire time in '" + command.toLowerCase(Locale.ROOT) + "' command", cause);
  }
}
