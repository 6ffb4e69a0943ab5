package io.penstock.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.S3Settings;
import io.penstock.node.door.BusyDoor;
import io.penstock.node.door.DrivenDoor;
import io.penstock.s3.serve.S3Door;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Clients that never stop to put, and a read beside them on the same network thread: what it waits for is bounded in
/// bytes of theirs.
@Timeout(300)
final class ChokedReadsTest {
  private static final int LENGTH = 64 << 10;
  private static final int SHORT_PART = 66_048;
  private static final int PART = 262_656;
  private static final int LONG = 8_000_000;
  /// Of a client: one buffer.
  private static final int TURN = 64 << 10;

  private static byte[] put(String key, byte[] body) {
    byte[] head = ("PUT /b/" + key + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + body.length + "\r\n\r\n")
        .getBytes(StandardCharsets.US_ASCII);
    byte[] all = Arrays.copyOf(head, head.length + body.length);
    System.arraycopy(body, 0, all, head.length, body.length);
    return all;
  }

  private static byte[] bytes(int seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  /// Reads an object now and then, while `writers` put objects of `length` bytes.
  ///
  /// @param memory bytes for long parts
  private static void read(int writers, int length, long memory) throws IOException {
    byte[] object = bytes(-1, LENGTH);
    try (BusyDoor door = new BusyDoor(traffic -> new DrivenDoor(new S3Door(), DoorSettings.S3,
        Map.of(S3Settings.ROOM, "60s"), Map.of(PART, memory, SHORT_PART, 8L << 20), traffic))) {
      door.ask(put("read", object), "\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      for (int i = 0; i < writers; i++) {
        door.add(put("written" + i, bytes(i, length)));
      }
      long longest = 0;
      for (int i = 0; i < 20; i++) {
        for (int j = 0; j < 3; j++) {
          door.turn();
        }
        byte[] get = "GET /b/read HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        longest = Math.max(longest, door.ask(get, object));
      }
      System.out.printf("%d writers of %d bytes: a read waited for %d bytes at most; %d of one writer in a turn%n",
          writers, length, longest, door.mostInTurn());
      assertThat(door.mostInTurn()).as("bytes of one writer in a turn").isBetween(1L, (long) TURN);
      assertThat(longest).as("bytes of the writers before a reply").isLessThanOrEqualTo((long) writers * TURN);
    }
  }

  @Test
  void aRead_waitsForABufferOfEachClientThatPuts() throws IOException {
    read(8, LENGTH, 8 << 20);
  }

  @Test
  void aRead_waitsForABufferOfEachClientThatPutsLongObjects() throws IOException {
    read(4, LONG, 96 << 20);
  }

  @Test
  void aRead_waitsForABufferOfEachClientWhoseObjectsAreLetGo() throws IOException {
    read(4, LONG, 4 << 20);
  }

  @Test
  void aRead_waitsForABufferOfAClientThatHadTheThreadToItself() throws IOException {
    read(1, LONG, 32 << 20);
  }
}
