package io.penstock.node.log;

import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import io.penstock.node.text.Reason;
import java.util.stream.Collectors;

/// The message of a line, short and in printable characters, and its cause: the stack of an exception of ours, only the
/// words of others, which a peer's bytes may have caused. RSocket quotes these bytes and names its classes, so its
/// complaint about a frame is told in the words of the protocol.
public final class PlainMessage extends ThrowableProxyConverter {
  private static final String RSOCKET = "io.rsocket.";
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
        : event.getLoggerName().startsWith(RSOCKET)
            ? "connection ended: frame must " + rule(cause.getClassName())
            : message + ": " + plain(cause.getMessage() == null ? "cause unknown" : cause.getMessage());
  }

  /// The rule that a frame broke, found by the exception of RSocket.
  private static String rule(String thrown) {
    return switch (thrown) {
      case "java.lang.IndexOutOfBoundsException" -> "be whole (was cut short, or had a wrong length in it)";
      case "java.lang.IllegalStateException" -> "be of a stream that its sender opened (was of another)";
      case "java.lang.IllegalArgumentException" -> "be of a type that RSocket has (was of another)";
      default -> "follow the rules of RSocket (broke one)";
    };
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
