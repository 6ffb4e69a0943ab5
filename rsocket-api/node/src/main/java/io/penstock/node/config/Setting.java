package io.penstock.node.config;

import java.util.Locale;

/// One thing that can be configured. File, environment and command line name it alike, and nobody names it twice: `block.bytes` in
/// the file is `PENSTOCK_BLOCK_BYTES` and `--block-bytes`.
///
/// @param key dotted, lower case
/// @param type of its values
/// @param initial the value, as text, when nobody gives one
/// @param description one sentence
public record Setting<T>(String key, SettingType<T> type, String initial, String description) {
  private static final String PREFIX = "PENSTOCK_";

  public String variable() {
    return PREFIX + key.toUpperCase(Locale.ROOT).replace('.', '_');
  }

  public String flag() {
    return "--" + key.replace('.', '-');
  }

  /// @throws IllegalArgumentException naming key, rule, value and origin
  T read(String text, Origin origin) {
    try {
      return type.parse().apply(text.strip());
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException("%s must be %s (was %s, from %s)".formatted(key, type.rule(), text.isBlank() ? "empty" : text, origin), e);
    }
  }
}
