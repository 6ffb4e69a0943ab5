package io.penstock.resp;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// When EXPIRE and PEXPIRE change the end of a value: its options.
record ExpireRule(Set<Option> options) {
  static final ExpireRule ALWAYS = new ExpireRule(Set.of());
  private static final int FIRST = 3;

  /// As Redis names them; a value without an end ends later than any other.
  enum Option {
    /// Values without an end.
    NX,
    /// Values with an end.
    XX,
    /// A later end.
    GT,
    /// An earlier end.
    LT
  }

  /// Reads the options of `EXPIRE key time …`.
  ///
  /// @throws IllegalArgumentException if they are none that Redis has; its message is that of Redis
  static ExpireRule of(List<byte[]> args) {
    Set<Option> options = EnumSet.noneOf(Option.class);
    for (byte[] argument : args.subList(Math.min(FIRST, args.size()), args.size())) {
      String word = SetOptions.word(argument);
      options.add(switch (word) {
        case "NX", "XX", "GT", "LT" -> Option.valueOf(word);
        default ->
          throw new IllegalArgumentException("ERR Unsupported option " + Commands.shown(argument, Commands.MOST_SHOWN));
      });
    }
    if (options.contains(Option.NX) && options.size() > 1) {
      throw new IllegalArgumentException("ERR NX and XX, GT or LT options at the same time are not compatible");
    } else if (options.contains(Option.GT) && options.contains(Option.LT)) {
      throw new IllegalArgumentException("ERR GT and LT options at the same time are not compatible");
    }
    return new ExpireRule(options);
  }

  /// @param nowMillis present end of the value; 0 for none
  /// @param untilMillis end that it is to get
  boolean allows(long nowMillis, long untilMillis) {
    boolean ends = nowMillis > 0;
    return options.stream().allMatch(option -> switch (option) {
      case NX -> !ends;
      case XX -> ends;
      case GT -> ends && untilMillis > nowMillis;
      case LT -> !ends || untilMillis < nowMillis;
    });
  }
}
