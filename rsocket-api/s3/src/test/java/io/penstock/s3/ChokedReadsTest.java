package io.penstock.s3;

import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.S3Settings;
import io.penstock.node.door.ChokedReads;
import io.penstock.s3.serve.S3Door;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What a read waits for beside clients that never stop to put.
@Timeout(300)
final class ChokedReadsTest {
  /// Of a client: one buffer.
  private static final int TURN = 64 << 10;

  private static final ChokedReads READS =
      new ChokedReads(new S3Door(), DoorSettings.S3, Map.of(S3Settings.ROOM, "60s"), new ChokedReads.Words() {
        private byte[] head(String method, String key, String more) {
          return (method + " /b/" + key + " HTTP/1.1\r\nHost: a\r\n" + more + "\r\n")
              .getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public byte[] put(String key, byte[] value) {
          byte[] head = head("PUT", key, "Content-Length: " + value.length + "\r\n");
          byte[] all = Arrays.copyOf(head, head.length + value.length);
          System.arraycopy(value, 0, all, head.length, value.length);
          return all;
        }

        @Override
        public byte[] stored() {
          return "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public byte[] get(String key) {
          return head("GET", key, "");
        }

        @Override
        public byte[] got(byte[] value) {
          return value;
        }
      });

  private static void read(int writers, int length, long memory) throws IOException {
    READS.read(writers, length, memory, 3, 20, TURN, (long) writers * TURN);
  }

  @Test
  void aRead_waitsForABufferOfEachClientThatPuts() throws IOException {
    read(8, ChokedReads.LENGTH, 8 << 20);
  }

  @Test
  void aRead_waitsForABufferOfEachClientThatPutsLongObjects() throws IOException {
    read(4, ChokedReads.LONG, 96 << 20);
  }

  @Test
  void aRead_waitsForABufferOfEachClientWhoseObjectsAreLetGo() throws IOException {
    read(4, ChokedReads.LONG, 4 << 20);
  }

  @Test
  void aRead_waitsForABufferOfAClientThatHadTheThreadToItself() throws IOException {
    read(1, ChokedReads.LONG, 32 << 20);
  }
}
