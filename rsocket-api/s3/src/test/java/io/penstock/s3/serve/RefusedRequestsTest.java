package io.penstock.s3.serve;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.penstock.node.door.RefusalLog;
import io.penstock.s3.RawClient;
import io.penstock.s3.TestNode;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

final class RefusedRequestsTest {
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
  void refusedRequest_hasALine_andAMissHasNone(@TempDir Path folder) throws IOException {
    try (TestNode node = TestNode.start(folder, ""); RawClient client = new RawClient(node.port())) {
      assertThat(client.get("/b/nothing").status()).isEqualTo(404);
      assertThat(said()).isEmpty();
      client.send("GET /b/k HTTP/1.1\r\nHost: a\r\n\r\n");
      assertThat(client.answer(false).status()).isEqualTo(403);
      assertThat(said()).singleElement().asString().startsWith("a request at the door s3 was refused: AccessDenied, "
          + "request must be signed (was not); user unknown, from 127.0.0.1:");
    }
  }

  @Test
  void refusedRequestOfAUser_namesIt(@TempDir Path folder) throws IOException {
    try (TestNode node = TestNode.start(folder, ""); RawClient client = new RawClient(node.port())) {
      assertThat(client.get("/b/k?tagging").status()).isEqualTo(501);
      assertThat(said()).singleElement().asString()
          .contains("NotImplemented", "; user " + TestNode.USER + ", from 127.0.0.1:");
    }
  }

  @Test
  void missesAndConditions_haveNoLine() {
    for (S3Code code : List.of(S3Code.NO_SUCH_KEY, S3Code.PRECONDITION_FAILED, S3Code.INCOMPLETE_BODY,
        S3Code.INVALID_RANGE, S3Code.INVALID_PART_NUMBER)) {
      assertThat(Failures.isToBeLogged(new S3Exception(code, "key must be another (was this)"))).isFalse();
    }
    assertThat(Failures.isToBeLogged(new S3Exception(S3Code.INVALID_ARGUMENT, "name must be short (was long)")))
        .isTrue();
  }
}
