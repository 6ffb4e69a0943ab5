package io.penstock.node.config;

import static java.util.Objects.requireNonNull;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What stands before the names of all values of a user, as in `shared/,alice=tenant-a/`.
///
/// @param others prefix of everyone who is not named; empty for none
/// @param named prefix by user
public record DoorPrefixes(String others, Map<String, String> named) {
  static final String RULE = "none, or a prefix of 1 to 64 letters, digits and ._/-, and perhaps USER=PREFIX for users"
      + " that have another one, separated by commas";
  private static final String NONE = "none";
  private static final Pattern ONE = Pattern.compile("(?:([^=,\\s]+)=)?([A-Za-z0-9._/-]{1,64})");

  public DoorPrefixes {
    requireNonNull(others, "others");
    named = Map.copyOf(named);
  }

  static DoorPrefixes parse(String text) {
    Map<String, String> all = new LinkedHashMap<>();
    for (String part : text.split(",", -1)) {
      Matcher one = ONE.matcher(part.strip());
      if (!one.matches()) {
        throw new IllegalArgumentException();
      }
      String who = one.group(1) == null ? "" : one.group(1);
      if (all.put(who, one.group(2).equals(NONE) ? "" : one.group(2)) != null) {
        throw new IllegalArgumentException();
      }
    }
    String others = all.getOrDefault("", "");
    all.remove("");
    return new DoorPrefixes(others, all);
  }

  /// The prefix of `user`; empty for none.
  public String of(String user) {
    return named.getOrDefault(user, others);
  }

  private static String shown(String prefix) {
    return prefix.isEmpty() ? NONE : prefix;
  }

  /// Text that [#parse] reads.
  @Override
  public String toString() {
    return Stream.concat(Stream.of(shown(others)), named.entrySet().stream().sorted(Map.Entry.comparingByKey())
        .map(one -> one.getKey() + "=" + shown(one.getValue()))).collect(Collectors.joining(","));
  }
}
