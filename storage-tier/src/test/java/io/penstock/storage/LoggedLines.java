package io.penstock.storage;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/// What one class logs from now on about one thing, line by line. Lines about others are passed over: what an earlier
/// test left behind may log late.
final class LoggedLines extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  private final Logger logger;
  private final String about;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  /// @param about text that each line has
  LoggedLines(Class<?> of, String about) {
    this.about = about;
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
    String message = line.getFormattedMessage();
    if (message.contains(about)) {
      lines.add(message);
    }
  }

  @Override
  public void close() {
    logger.setLevel(null);
    logger.detachAppender(this);
    stop();
  }
}
