package io.penstock.node.setting;

/// What is logged: this and all that is more serious.
public enum LogLevel {
  OFF,
  ERROR,
  WARN,
  INFO,
  DEBUG
}
