package io.penstock.s3.serve;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.penstock.s3.RawClient;
import io.penstock.s3.TestNode;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

final class RefusalLogTest {
  private static final S3Exception UNSIGNED =
      new S3Exception(S3Code.ACCESS_DENIED, "request must be signed (was not)");

  private final AtomicLong nanos = new AtomicLong(-5);
  private final RefusalLog refusals = new RefusalLog(nanos::get);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void listen() {
    log.start();
    ((Logger) LoggerFactory.getLogger(RefusalLog.class)).addAppender(log);
  }

  @AfterEach
  void leave() {
    ((Logger) LoggerFactory.getLogger(RefusalLog.class)).detachAppender(log);
  }

  private List<String> said() {
    return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void refusals_haveALineASecond_andTheNextOneCountsTheOthers() {
    for (int i = 0; i < 1_000; i++) {
      refusals.add(UNSIGNED, "/127.0.0.1:7");
    }
    String first = "a request of the door s3 was refused: AccessDenied, request must be signed (was not);"
        + " from /127.0.0.1:7";
    assertThat(said()).containsExactly(first);

    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    refusals.add(UNSIGNED, "/127.0.0.1:7");
    assertThat(said()).containsExactly(first, first + " (999 more since the line before)");
  }

  @Test
  void refusedRequest_hasALine_andAMissHasNone(@TempDir Path folder) throws IOException {
    try (TestNode node = TestNode.start(folder, ""); RawClient client = new RawClient(node.port())) {
      assertThat(client.get("/b/nothing").status()).isEqualTo(404);
      assertThat(said()).isEmpty();
      client.send("GET /b/k HTTP/1.1\r\nHost: a\r\n\r\n");
      assertThat(client.answer(false).status()).isEqualTo(403);
      assertThat(said()).singleElement().asString().contains("AccessDenied, request must be signed", "127.0.0.1:");
    }
  }

  @Test
  void missesAndConditions_haveNone_andTextOfClientsIsHarmless() {
    refusals.add(new S3Exception(S3Code.NO_SUCH_KEY, "key must be that of an object (is of none)"), "a");
    refusals.add(new S3Exception(S3Code.PRECONDITION_FAILED, "tag must be the one asked for (was not)"), "a");
    refusals.add(new S3Exception(S3Code.INCOMPLETE_BODY, "body must come whole (the connection ended)"), "a");
    refusals.add(new S3Exception(S3Code.INVALID_ARGUMENT, "name must be short (was \u001b[2J\n" + "x".repeat(5_000)),
        "a");
    assertThat(said()).singleElement().asString().contains("\\x1b[2J\\x0a").hasSizeLessThan(400);
  }
}
