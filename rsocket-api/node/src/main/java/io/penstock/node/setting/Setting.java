package io.penstock.node.setting;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// One thing that can be configured. Its key makes its name in the file, the environment and the command line:
/// `block.bytes` in the file is `PENSTOCK_BLOCK_BYTES` and `--block-bytes`.
///
/// @param key dotted, lower case
/// @param type of its values
/// @param initial the value, as text, when no source gives one
/// @param description one sentence
/// @param aliases variables of other programs that mean the same; those before win over those after, and [#variable]
///     over all
/// @param noEffect why it does nothing, the end of *… has no effect here because*
public record Setting<T>(String key, SettingType<T> type, String initial, String description, List<String> aliases,
    Optional<String> noEffect) {
  private static final String PREFIX = "PENSTOCK_";

  public Setting {
    requireNonNull(noEffect, "noEffect");
    aliases = List.copyOf(aliases);
  }

  /// A setting that only Penstock has.
  public Setting(String key, SettingType<T> type, String initial, String description) {
    this(key, type, initial, description, List.of(), Optional.empty());
  }

  public String variable() {
    return PREFIX + key.toUpperCase(Locale.ROOT).replace('.', '_');
  }

  public String flag() {
    return "--" + key.replace('.', '-');
  }

  /// @throws IllegalArgumentException naming key, rule, value and origin
  public T read(String text, Origin origin) {
    try {
      return type.parse().apply(text.strip());
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException(
          "%s must be %s (was %s, from %s)".formatted(key, type.rule(), text.isBlank() ? "empty" : text, origin), e);
    }
  }
}
