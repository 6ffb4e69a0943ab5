package io.penstock.resp;

import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.wire.security.Access;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A client that reads replies by their width, and leaves in the stream what it does not expect, as the native one of
/// LMCache does: at Redis, and at a door, while there is no room. Skipped without `redis-server`.
@Timeout(300)
final class ShiftedRepliesTest {
  private static final int LENGTH = 65_536;
  private static final int STEPS = 400;
  private static final long SEED = 17;

  @TempDir
  private Path folder;

  /// @param hits reads that the client takes for a success
  /// @param wrong those of them that brought the value of another key
  /// @param refused stores that it takes for a failure
  private record Seen(int hits, int wrong, int refused) {}

  private static byte[] value(int key) {
    byte[] value = new byte[LENGTH];
    Arrays.fill(value, (byte) ('a' + key % 26));
    value[0] = (byte) ('A' + key / 26);
    return value;
  }

  private static Seen tell(int port) throws IOException {
    Random random = new Random(SEED);
    int hits = 0;
    int wrong = 0;
    int refused = 0;
    List<Integer> stored = new ArrayList<>();
    try (RespClient client = new RespClient(port)) {
      for (int step = 0; step < STEPS; step++) {
        if (stored.isEmpty() || random.nextInt(4) == 0) {
          boolean isStored = client.send(request("SET", "m@1@0@" + step, value(step))).text(5).equals("+OK\r\n");
          refused += isStored ? 0 : 1;
          if (isStored) {
            stored.add(step);
          }
        } else {
          int key = stored.get(random.nextInt(stored.size()));
          if (client.send(request("GET", "m@1@0@" + key)).line().equals("$" + LENGTH)) {
            hits++;
            wrong += Arrays.equals(client.read(LENGTH), value(key)) ? 0 : 1;
            client.read(2);
          }
        }
      }
    }
    return new Seen(hits, wrong, refused);
  }

  @Test
  void errorLinesOfRedis_giveTheClientTheValuesOfOtherKeys_andADoorHasNone() throws Exception {
    Seen atRedis = atRedis();
    FaultTier.Faults faults = new FaultTier.Faults(SEED);
    faults.set(FaultTier.Fault.FULL, 0.5);
    Seen atDoor;
    try (OpenDoor door = new OpenDoor(4 << 20, tier -> new FaultTier(tier, faults), Map.of(), Access.open())) {
      atDoor = tell(door.port());
      assertThat(door.figures().drops()).isPositive();
    }
    System.out.println("a client that reads replies by their width: at Redis " + atRedis + ", at a door " + atDoor);
    assertThat(atRedis.refused()).isPositive();
    assertThat(atRedis.wrong()).isPositive();
    assertThat(atDoor.refused()).isZero();
    assertThat(atDoor.hits()).isPositive();
    assertThat(atDoor.wrong()).isZero();
  }

  /// At a Redis that has room for some of the values and evicts none.
  private Seen atRedis() throws IOException {
    try (RedisServer redis = new RedisServer(folder, "--maxmemory", "4mb", "--maxmemory-policy", "noeviction")) {
      return tell(redis.port());
    }
  }
}
