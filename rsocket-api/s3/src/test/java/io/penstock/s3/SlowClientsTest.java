package io.penstock.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Clients that take or send nothing more: the door keeps little for them, and not for long.
@Timeout(180)
final class SlowClientsTest {
  /// Has a document for a response.
  private static final String REFUSED = "GET /b/k HTTP/1.1\r\nHost: a\r\n\r\n";
  /// With more bytes than the channel and the sockets hold.
  private static final int RESPONSES = 10_000;
  private static final byte[] NONE = new byte[0];

  @TempDir
  private static Path folder;
  private static TestNode node;

  @BeforeAll
  static void start() throws IOException {
    node = TestNode.start(folder, "stall.timeout: 1s\n");
  }

  @AfterAll
  static void end() {
    node.close();
  }

  @Test
  void aClientThatNeverReads_isHeldUp_andCutOff() throws IOException {
    try (RawClient client = RawClient.withSmallWindow(node.port())) {
      String some = REFUSED.repeat(3_000);
      assertThatThrownBy(() -> {
        for (int i = 0; i < 1_000; i++) { // far more than sockets hold
          client.send(some);
        }
      }).isInstanceOf(IOException.class);
    }
  }

  @Test
  void aReaderWhoStopsAtTheLastPart_isCutOff() throws IOException {
    try (RawClient client = new RawClient(node.port()); RawClient other = new RawClient(node.port())) {
      byte[] bytes = new byte[400_000]; // fits the buffers of the channel, and not those of sockets with it
      assertThat(client.ask("PUT", "/b/last", "", bytes).status()).isEqualTo(200);
      int open = node.door().connections();
      String gets = client.head("GET", "/b/last", "").repeat(200);
      client.send(gets);
      Eventually.holds("the one that has something to take ends", () -> node.door().connections() == open - 1);
      assertThat(other.ask("HEAD", "/b/last", "", NONE).status()).isEqualTo(200);
    }
  }

  @Test
  void aHeadThatDoesNotEnd_isCutOff_behindAWholeRequestToo() throws IOException {
    try (RawClient client = new RawClient(node.port())) {
      client.send("GET /b/k HTTP/1.1\r\nHost:");
      assertThat(client.isEnded()).isTrue();
    }
    try (RawClient client = new RawClient(node.port())) {
      client.send(client.head("HEAD", "/b/none", "") + "GET /b/k HTTP/1.1\r\nHost: a\r\n");
      assertThat(client.answer(true).status()).isEqualTo(404);
      assertThat(client.isEnded()).isTrue();
    }
  }

  @Test
  void aReaderWhoIsSlow_getsEveryResponse(@TempDir Path patient) throws Exception {
    try (TestNode own = TestNode.start(patient, ""); RawClient client = RawClient.withSmallWindow(own.port())) {
      Thread sender = Thread.startVirtualThread(() -> {
        try {
          client.send(REFUSED.repeat(RESPONSES));
        } catch (IOException e) {
          throw new IllegalStateException(e);
        }
      });
      for (int i = 0; i < RESPONSES; i++) {
        assertThat(client.answer(false).status()).isEqualTo(403);
      }
      sender.join();
    }
  }
}
