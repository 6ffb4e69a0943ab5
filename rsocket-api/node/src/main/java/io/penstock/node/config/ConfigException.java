package io.penstock.node.config;

import java.util.List;

/// The configuration is not possible: every problem that was found, each with key, rule, value and origin.
public final class ConfigException extends IllegalArgumentException {
  private final List<String> problems;

  public ConfigException(List<String> problems) {
    super(String.join("\n", problems));
    this.problems = List.copyOf(problems);
  }

  public List<String> problems() {
    return problems;
  }
}
