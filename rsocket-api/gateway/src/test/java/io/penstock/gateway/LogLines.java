package io.penstock.gateway;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Sinks;

/// Lines of a logger, of all gateways of this process, while this is open.
final class LogLines extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  /// The lines of requests.
  static final String ACCESS = "io.penstock.gateway.access";

  private final Logger logger;
  private final @Nullable Level before;
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Sinks.Many<String> said = Sinks.many().replay().latest();

  LogLines(String logger) {
    this((Logger) LoggerFactory.getLogger(logger));
  }

  private LogLines(Logger logger) {
    this.logger = logger;
    this.before = logger.getLevel();
    setContext(logger.getLoggerContext());
    start();
    logger.setLevel(Level.INFO);
    logger.addAppender(this);
  }

  @Override
  protected void append(ILoggingEvent event) {
    lines.add(event.getFormattedMessage());
    said.tryEmitNext("a line");
  }

  List<String> lines() {
    return lines;
  }

  /// Returns when the lines are such.
  void await(Predicate<List<String>> expected) {
    said.asFlux().startWith("now").filter(each -> expected.test(lines)).next().block(Duration.ofSeconds(5));
  }

  @Override
  public void close() {
    logger.detachAppender(this);
    logger.setLevel(before);
    stop();
  }
}
