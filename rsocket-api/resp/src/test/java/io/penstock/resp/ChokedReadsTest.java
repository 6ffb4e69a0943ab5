package io.penstock.resp;

import static io.penstock.resp.RespClient.request;

import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.RespSettings;
import io.penstock.node.door.ChokedReads;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What a read waits for beside clients that never stop to store.
@Timeout(300)
final class ChokedReadsTest {
  /// Of a client in the middle of a long value, while others send, too.
  private static final int TURN = 2 << 20;
  private static final int PART = ChokedReads.PART;
  /// Requests of others, without the most of their values.
  private static final int HEADS = 16 << 10;

  private static final ChokedReads READS =
      new ChokedReads(new RespDoor(), DoorSettings.RESP, Map.of(RespSettings.ROOM, "60s"), new ChokedReads.Words() {
        @Override
        public byte[] put(String key, byte[] value) {
          return request("SET", key, value);
        }

        @Override
        public byte[] stored() {
          return RespClient.bytes("+OK\r\n");
        }

        @Override
        public byte[] get(String key) {
          return request("GET", key);
        }

        @Override
        public byte[] got(byte[] value) {
          byte[] end = Arrays.copyOf(value, value.length + 2);
          end[value.length] = '\r';
          end[value.length + 1] = '\n';
          return end;
        }
      });

  /// The rest of a value that has begun, or the head of the next: never both.
  @Test
  void aRead_waitsForAValueOfOneClientThatStores() throws IOException {
    READS.read(8, ChokedReads.LENGTH, 8 << 20, 3, 20, ChokedReads.LENGTH, ChokedReads.LENGTH + HEADS);
  }

  @Test
  void aRead_waitsForATurnOfOneClientThatStoresLongValues() throws IOException {
    READS.read(4, ChokedReads.LONG, 96 << 20, 3, 20, TURN + PART + 2, TURN + PART + HEADS);
  }

  /// One whose bytes came late reads them beside the next.
  @Test
  void aRead_waitsForATurnOfTwoClientsWhoseValuesAreLetGo() throws IOException {
    READS.read(4, ChokedReads.LONG, 4 << 20, 3, 20, TURN + PART + 2, 2 * (TURN + PART) + HEADS);
  }

  /// It may read 16 times before it looks at others.
  @Test
  void aRead_waitsForATurnOfAClientThatHadTheThreadToItself() throws IOException {
    READS.read(1, ChokedReads.LONG, 32 << 20, 70, 4, 16 * (PART + 2), 16 * (PART + 2));
  }
}
