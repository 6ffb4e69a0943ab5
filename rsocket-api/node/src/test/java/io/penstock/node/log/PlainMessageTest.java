package io.penstock.node.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What a line says of a failure, by where the line comes from.
final class PlainMessageTest {
  private static final String RAW = "non-existent stream: 46 Message: \u001b[2J";

  private final LoggerContext context = new LoggerContext();
  private final PlainMessage message = new PlainMessage();

  @BeforeEach
  void start() {
    context.setMDCAdapter(new LogbackMDCAdapter());
    message.setContext(context);
    message.start();
  }

  private String said(String logger, String text, Throwable cause) {
    return message.convert(new LoggingEvent("here", context.getLogger(logger), Level.ERROR, text, cause, null));
  }

  private String ofRSocket(RuntimeException cause) {
    return said("io.rsocket.core.RSocketRequester", "Unexpected error during frame handling", cause);
  }

  @Test
  void whatRSocketSaysOfAFrame_isSaidByItsCause_withoutThePeersBytes() {
    assertThat(ofRSocket(new IllegalStateException(RAW)))
        .isEqualTo("connection ended: frame must be of a stream that its sender opened (was of another)");
    assertThat(ofRSocket(new IndexOutOfBoundsException(RAW)))
        .isEqualTo("connection ended: frame must be whole (was cut short, or had a wrong length in it)");
    assertThat(ofRSocket(new IllegalArgumentException(RAW)))
        .isEqualTo("connection ended: frame must be of a type that RSocket has (was of another)");
    assertThat(ofRSocket(new ArithmeticException(RAW)))
        .isEqualTo("connection ended: frame must follow the rules of RSocket (broke one)");
  }

  @Test
  void anothersFailure_isNamedByItsWords_inCharactersThatMoveNoCursor() {
    assertThat(said("reactor.netty.Any", "text", new IllegalStateException("a\u001b[2J")))
        .isEqualTo("text: a\\x1b[2J");
    assertThat(said("reactor.netty.Any", "text", new IllegalStateException())).isEqualTo("text: cause unknown");
    assertThat(said("reactor.netty.Any", "text\r", null)).isEqualTo("text\\x0d");
  }

  @Test
  void failureOfOurs_hasItsStack() {
    assertThat(said("io.penstock.Any", "text", new IllegalStateException("rule")))
        .startsWith("text" + System.lineSeparator())
        .contains("IllegalStateException: rule", "at io.penstock.node.log.PlainMessageTest");
  }
}
