package io.penstock.node.serve;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.penstock.node.setting.LogLevel;
import java.util.List;
import org.slf4j.LoggerFactory;

/// Sets how much is logged. Where it goes is written in `logback.xml`.
public final class Logging {
  /// Loggers that write every frame of the network at a lower level.
  private static final List<String> NETWORK = List.of("io.rsocket", "io.netty", "reactor");

  private Logging() {}

  /// Logs from `level` on.
  public static void set(LogLevel level) {
    Level own = Level.toLevel(level.name());
    level(org.slf4j.Logger.ROOT_LOGGER_NAME, own);
    NETWORK.forEach(name -> level(name, own.isGreaterOrEqual(Level.WARN) ? own : Level.WARN));
  }

  private static void level(String name, Level level) {
    if (LoggerFactory.getLogger(name) instanceof Logger logger) {
      logger.setLevel(level);
    }
  }
}
