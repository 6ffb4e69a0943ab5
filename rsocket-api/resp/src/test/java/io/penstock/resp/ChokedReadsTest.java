package io.penstock.resp;

import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.RespSettings;
import io.penstock.node.door.BusyDoor;
import io.penstock.node.door.DrivenDoor;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Clients that never stop to store, and a read beside them on the same network thread: what it waits for is bounded in
/// bytes of theirs.
@Timeout(300)
final class ChokedReadsTest {
  private static final int LENGTH = 64 << 10;
  private static final int SHORT_PART = 66_048;
  private static final int PART = 262_656;
  private static final int LONG = 8_000_000;
  /// Requests of others, without the most of their values.
  private static final int HEADS = 16 << 10;
  /// Of a client in the middle of a long value, while others send, too.
  private static final int TURN = 2 << 20;

  private static byte[] value(int seed, int length) {
    byte[] value = new byte[length];
    new Random(seed).nextBytes(value);
    return value;
  }

  /// Reads a value now and then, while `writers` store values of `length` bytes.
  ///
  /// @param memory bytes for long parts
  /// @param turns of the door between two reads, of `reads`
  /// @param most bytes of one writer that may be read in a turn
  private static void read(int writers, int length, long memory, int turns, int reads, int most) throws IOException {
    byte[] value = value(-1, LENGTH);
    byte[] end = Arrays.copyOf(value, LENGTH + 2);
    end[LENGTH] = '\r';
    end[LENGTH + 1] = '\n';
    try (BusyDoor door = new BusyDoor(traffic -> new DrivenDoor(new RespDoor(), DoorSettings.RESP,
        Map.of(RespSettings.ROOM, "60s"), Map.of(PART, memory, SHORT_PART, 8L << 20), traffic))) {
      door.ask(request("SET", "read", value), RespClient.bytes("+OK\r\n"));
      for (int i = 0; i < writers; i++) {
        door.add(request("SET", "written" + i, value(i, length)));
      }
      long longest = 0;
      for (int i = 0; i < reads; i++) {
        for (int j = 0; j < turns; j++) {
          door.turn();
        }
        longest = Math.max(longest, door.ask(request("GET", "read"), end));
      }
      System.out.printf("%d writers of %d bytes: a read waited for %d bytes at most; %d of one writer in a turn%n",
          writers, length, longest, door.mostInTurn());
      assertThat(door.mostInTurn()).as("bytes of one writer in a turn").isBetween(1L, (long) most);
      assertThat(longest).as("bytes of the writers before a reply").isLessThanOrEqualTo((long) most + HEADS);
    }
  }

  /// The rest of a value that has begun, or the head of the next: never both.
  @Test
  void aRead_waitsForAValueOfOneClientThatStores() throws IOException {
    read(8, LENGTH, 8 << 20, 3, 20, LENGTH);
  }

  @Test
  void aRead_waitsForATurnOfOneClientThatStoresLongValues() throws IOException {
    read(4, LONG, 96 << 20, 3, 20, TURN + PART + 2);
  }

  @Test
  void aRead_waitsForATurnOfOneClientWhoseValuesAreLetGo() throws IOException {
    read(4, LONG, 4 << 20, 3, 20, TURN + PART + 2);
  }

  /// It may read 16 times before it looks at others.
  @Test
  void aRead_waitsForATurnOfAClientThatHadTheThreadToItself() throws IOException {
    read(1, LONG, 32 << 20, 70, 4, 16 * (PART + 2));
  }
}
