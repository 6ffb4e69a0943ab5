package io.penstock.node.config;

import static java.util.Objects.requireNonNull;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Which space of values a door uses for which client, as in `values,alice=tenant-a,3=batch`.
///
/// @param others space of everyone who is not named
/// @param named space by what a door tells its clients apart with: a user, the number of a database, a bucket;
///     the door of S3 also knows `user:NAME` and `bucket:NAME`
public record DoorSpaceNames(String others, Map<String, String> named) {
  static final String RULE = "the name of a space, and perhaps NAME=SPACE for users, databases or buckets that have"
      + " another one, separated by commas";
  private static final Pattern ONE = Pattern.compile("(?:([^=,\\s]+)=)?([A-Za-z0-9][A-Za-z0-9_-]*)");

  public DoorSpaceNames {
    requireNonNull(others, "others");
    named = Map.copyOf(named);
  }

  static DoorSpaceNames parse(String text) {
    String others = null;
    Map<String, String> named = new LinkedHashMap<>();
    for (String part : text.split(",", -1)) {
      Matcher one = ONE.matcher(part.strip());
      if (!one.matches()) {
        throw new IllegalArgumentException();
      }
      String who = one.group(1);
      String before = who == null ? others : named.put(who, one.group(2));
      if (before != null) {
        throw new IllegalArgumentException();
      }
      others = who == null ? one.group(2) : others;
    }
    if (others == null) {
      throw new IllegalArgumentException();
    }
    return new DoorSpaceNames(others, named);
  }

  /// The space of the first of `selectors` that is named; that of others if none is.
  public String of(String... selectors) {
    for (String selector : selectors) {
      Optional<String> space = Optional.ofNullable(named.get(selector));
      if (space.isPresent()) {
        return space.get();
      }
    }
    return others;
  }

  /// All spaces, each once, that of others first.
  public Set<String> all() {
    Set<String> all = new LinkedHashSet<>();
    all.add(others);
    named.entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(one -> all.add(one.getValue()));
    return all;
  }

  /// Text that [#parse] reads.
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(others);
    named.entrySet().stream().sorted(Map.Entry.comparingByKey())
        .forEach(one -> text.append(',').append(one.getKey()).append('=').append(one.getValue()));
    return text.toString();
  }
}
