package io.penstock.resp;

import java.util.Map;

/// The requests that bring a value. It goes to the tiers while it comes: [IncomingSet] answers them.
final class ValueCommands {
  private static final int NONE = -1;
  private static final Map<String, Integer> PLACES =
      Map.of("SET", 2, "SETNX", 2, "SETEX", 3, "PSETEX", 3);

  private ValueCommands() {}

  static void addTo(Map<String, Commands.Entry> all) {
    Command none = (session, args, done) -> {
      throw new IllegalStateException("a value must be taken while it comes");
    };
    all.put("SET", Commands.Entry.from(3, none));
    all.put("SETNX", Commands.Entry.of(3, none));
    all.put("SETEX", Commands.Entry.of(4, none));
    all.put("PSETEX", Commands.Entry.of(4, none));
  }

  /// Which argument of a request is its value, counted from its name, which is 0; -1 for none, as where there are too
  /// few arguments, or too many.
  ///
  /// @param arguments its name among them
  static int place(byte[] name, int arguments) {
    boolean isSet = isSet(name);
    int place = isSet ? 2 : PLACES.getOrDefault(SetOptions.word(name), NONE);
    return isSet ? arguments > place ? place : NONE : arguments == place + 1 ? place : NONE;
  }

  /// Whether a request is a SET without options.
  ///
  /// @param arguments its name among them
  static boolean isPlainSet(byte[] name, int arguments) {
    return arguments == 3 && isSet(name);
  }

  private static boolean isSet(byte[] name) {
    return name.length == 3 && (name[0] | 0x20) == 's' && (name[1] | 0x20) == 'e' && (name[2] | 0x20) == 't';
  }
}
