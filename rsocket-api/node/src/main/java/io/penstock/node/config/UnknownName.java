package io.penstock.node.config;

import io.penstock.node.setting.Origin;
import io.penstock.node.setting.Setting;
import io.penstock.node.text.Nearest;
import java.util.function.Function;

/// Words the complaint about an unknown setting, and guesses the one that was meant.
final class UnknownName {
  private UnknownName() {}

  static String problem(String what, String name, Origin origin, Function<Setting<?>, String> naming) {
    String nearest = Nearest.closest(name, NodeSettings.ALL.stream().map(naming).toList());
    return "%s must be one that `penstock serve --help` lists (was %s, from %s; did you mean %s?)".formatted(what, name,
        origin, nearest);
  }
}
