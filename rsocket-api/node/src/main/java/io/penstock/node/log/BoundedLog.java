package io.penstock.node.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;

/// Writes to the console, with a bound on the lines of each kind a minute. Lines of one logger and one pattern form a
/// kind, whatever their arguments; a logger whose patterns vary has a bounded number of kinds. For code of others,
/// whose messages quote bytes of peers, all lines of a logger form one. A logger whose name ends with `.access` has a
/// line for each request, so its bound is far above what one process answers: [#ACCESS_LINES] a minute.
public final class BoundedLog extends ConsoleAppender<ILoggingEvent> {
  private static final int LINES = 20;
  private static final long PERIOD_MILLIS = 60_000;
  private static final String OURS = "io.penstock.";

  /// A thousand a second.
  private static final int ACCESS_LINES = 60_000;
  private static final String ACCESS = ".access";

  private final LogBound bound = new LogBound(LINES, PERIOD_MILLIS);
  private final LogBound access = new LogBound(ACCESS_LINES, PERIOD_MILLIS);

  /// Reports at the end of the process the lines that were left out in the last minute.
  @Override
  public void start() {
    super.start();
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(this::stop, "penstock-log-end"));
    } catch (IllegalStateException e) {
      addInfo("the process ends already: nothing will have been left out", e);
    }
  }

  @Override
  protected void append(ILoggingEvent event) {
    boolean admitted;
    synchronized (bound) {
      bound.leftOut(event.getTimeStamp()).forEach(sentence -> super.append(told(sentence)));
      access.leftOut(event.getTimeStamp()).forEach(sentence -> super.append(told(sentence)));
      admitted = !isOurs(event)
          ? bound.admits(event.getLoggerName())
          : event.getLoggerName().endsWith(ACCESS)
              ? access.admits(event.getLoggerName())
              : bound.admits(event.getLoggerName(), event.getMessage());
    }
    if (admitted) {
      super.append(event);
    }
  }

  @Override
  public void stop() {
    synchronized (bound) {
      if (isStarted()) {
        bound.leftOut().forEach(sentence -> super.append(told(sentence)));
        access.leftOut().forEach(sentence -> super.append(told(sentence)));
      }
    }
    super.stop();
  }

  static boolean isOurs(ILoggingEvent event) {
    return event.getLoggerName().startsWith(OURS);
  }

  private LoggingEvent told(String sentence) {
    Logger logger = ((LoggerContext) getContext()).getLogger(BoundedLog.class);
    return new LoggingEvent(BoundedLog.class.getName(), logger, Level.WARN, sentence, null, null);
  }
}
