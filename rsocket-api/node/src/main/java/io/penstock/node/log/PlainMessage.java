package io.penstock.node.log;

import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import io.penstock.node.cli.Reason;
import java.util.stream.Collectors;

/// The message of a line, short and in printable characters, and its cause: the stack of one of ours, the words alone
/// of another's, which a peer's bytes may have brought about.
public final class PlainMessage extends ThrowableProxyConverter {
  private static final int LONGEST = 400;
  private static final int MOST_LINES = 50;

  @Override
  public String convert(ILoggingEvent event) {
    String message = plain(String.valueOf(event.getFormattedMessage()));
    IThrowableProxy cause = event.getThrowableProxy();
    if (cause == null) {
      return message;
    }
    return BoundedLog.isOurs(event)
        ? message + stack(super.convert(event))
        : message + ": " + plain(cause.getClassName() + ": " + cause.getMessage());
  }

  private static String stack(String lines) {
    return lines.lines().limit(MOST_LINES).map(PlainMessage::plain)
        .collect(Collectors.joining(System.lineSeparator(), System.lineSeparator(), ""));
  }

  static String plain(String text) {
    String shown = Reason.printable(text.length() <= LONGEST ? text : text.substring(0, LONGEST));
    return text.length() <= LONGEST ? shown : shown + " … (" + text.length() + " characters)";
  }
}
