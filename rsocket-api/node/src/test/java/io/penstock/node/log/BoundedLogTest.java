package io.penstock.node.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class BoundedLogTest {
  private final LoggerContext context = new LoggerContext();
  private final BoundedLog log = new BoundedLog();
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();

  @BeforeEach
  void start() {
    context.setMDCAdapter(new LogbackMDCAdapter());
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern("%logger{0} %msg%n");
    encoder.start();
    log.setContext(context);
    log.setEncoder(encoder);
    log.start();
    log.setOutputStream(written);
    context.start();
  }

  @AfterEach
  void stop() {
    context.stop();
  }

  private void say(String logger, String message, int second) {
    LoggingEvent event =
        new LoggingEvent("here", context.getLogger(logger), Level.WARN, message, null, new Object[] {second});
    event.setInstant(Instant.ofEpochSecond(second));
    log.doAppend(event);
  }

  private List<String> lines() {
    return written.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void linesOfAKind_areTwentyAMinute_andTheRestIsCounted() {
    for (int i = 0; i < 1_000; i++) {
      say("io.penstock.A", "one {}", 100);
      say("io.rsocket.B", "peer's text " + i, 100);
    }
    say("io.penstock.A", "other {}", 100);
    assertThat(lines()).hasSize(41).contains("A one 100", "B peer's text 19", "A other 100")
        .doesNotContain("B peer's text 20");

    say("io.penstock.A", "one {}", 161);

    assertThat(lines().subList(41, lines().size())).containsExactly(
        "BoundedLog lines like the last of io.penstock.A, one …: 980 more were left out",
        "BoundedLog lines like the last of io.rsocket.B: 980 more were left out", "A one 161");
  }

  @Test
  void linesOfRequests_areWrittenAtOrdinaryRates() {
    for (int i = 0; i < 60_001; i++) {
      say("io.penstock.gateway.access", "{} ms", 100);
    }

    assertThat(lines()).hasSize(60_000);
    log.stop();
    assertThat(lines()).last()
        .isEqualTo("BoundedLog lines like the last of io.penstock.gateway.access: 1 more were left out");
  }

  @Test
  void end_tellsWhatWasLeftOut() {
    for (int i = 0; i < 21; i++) {
      say("io.penstock.A", "one", 100);
    }

    log.stop();

    assertThat(lines()).hasSize(21).last()
        .isEqualTo("BoundedLog lines like the last of io.penstock.A, one: 1 more were left out");
  }
}
