package io.penstock.node.setting;

/// Least serious level that is logged.
public enum LogLevel {
  OFF,
  ERROR,
  WARN,
  INFO,
  DEBUG
}
