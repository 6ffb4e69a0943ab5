package io.penstock.storage;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/// What one class logs from now on, line by line; tests log nothing else.
final class LoggedLines extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  private final Logger logger;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  LoggedLines(Class<?> of) {
    this.logger = (Logger) LoggerFactory.getLogger(of);
    setContext(logger.getLoggerContext());
    start();
    logger.setLevel(Level.INFO);
    logger.addAppender(this);
  }

  List<String> lines() {
    return lines;
  }

  @Override
  protected void append(ILoggingEvent line) {
    lines.add(line.getFormattedMessage());
  }

  @Override
  public void close() {
    logger.setLevel(null);
    logger.detachAppender(this);
    stop();
  }
}
