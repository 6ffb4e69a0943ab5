package io.penstock.node.config;

import io.penstock.node.setting.Origin;
import io.penstock.node.setting.Setting;
import io.penstock.node.text.Nearest;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// Words the complaint about an unknown setting, and names the one that was probably meant, if one is near.
final class UnknownName {
  private UnknownName() {}

  static String problem(String what, String name, Origin origin, Function<Setting<?>, String> naming) {
    return "%s must be one that `penstock serve --help` lists (was %s, from %s%s)".formatted(what, name, origin,
        nearest(name, naming).map(near -> "; did you mean " + near + "?").orElse(""));
  }

  /// The name of a setting that is near, if one is. Names are compared by their words, without what all variables begin
  /// with: a long common beginning would make unlike names near.
  private static Optional<String> nearest(String name, Function<Setting<?>, String> naming) {
    Map<String, String> byWords = new LinkedHashMap<>();
    NodeSettings.ALL.stream().map(naming).forEach(each -> byWords.put(words(each), each));
    return Nearest.of(words(name), byWords.keySet()).stream().findFirst().map(byWords::get);
  }

  private static String words(String name) {
    return name.replaceFirst("^PENSTOCK_", "").replace('.', '-').replace('_', '-').toLowerCase(Locale.ROOT);
  }
}
