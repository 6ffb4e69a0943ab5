package io.penstock.node.config;

/// What is logged: this and all that is more serious.
public enum LogLevel {
  OFF,
  ERROR,
  WARN,
  INFO,
  DEBUG
}
