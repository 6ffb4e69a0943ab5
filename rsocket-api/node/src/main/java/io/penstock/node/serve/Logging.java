package io.penstock.node.serve;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.penstock.node.config.LogLevel;
import org.slf4j.LoggerFactory;

/// Sets how much is logged. Where it goes is written in `logback.xml`.
final class Logging {
  private Logging() {}

  static void set(LogLevel level) {
    if (LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME) instanceof Logger root) {
      root.setLevel(Level.toLevel(level.name()));
    }
  }
}
