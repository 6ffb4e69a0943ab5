package io.penstock.resp;

import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.config.RespSettings;
import io.penstock.wire.security.Access;
import java.io.IOException;
import java.net.SocketException;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A client that reads replies by their width alone, as the native one of LMCache does, at a door whose tiers fail. It
/// meets no byte that it cannot place, and no wrong byte; some of its connections end.
@Timeout(900)
final class FixedWidthClientTest {
  private static final int KEYS = 40;
  private static final int[] LENGTHS = {100, 4_000, 50_000, 65_536, 300_000};

  private static final class Client {
    private final OpenDoor door;
    private final Random random;
    private @Nullable RespClient connection;
    private int kills;
    private int ends;
    private int hits;

    Client(OpenDoor door, long seed) {
      this.door = door;
      this.random = new Random(seed);
    }

    private static byte[] value(int key) {
      byte[] value = new byte[LENGTHS[key % LENGTHS.length]];
      new Random(key).nextBytes(value);
      return value;
    }

    void step() throws IOException {
      RespClient now = connection == null ? new RespClient(door.port()) : connection;
      connection = now;
      int key = random.nextInt(KEYS);
      String name = "m@03020302@0@%064x".formatted(key);
      try {
        switch (random.nextInt(10)) {
          case 0, 1, 2 -> set(now, name, key);
          case 3, 4 -> width(now, 4, request("EXISTS", name), ":0\r\n", ":1\r\n");
          case 5 -> width(now, 4, request("DEL", name), ":0\r\n", ":1\r\n");
          default -> get(now, name, key);
        }
      } catch (SocketException e) { // reset
        ended();
      }
    }

    private void set(RespClient now, String name, int key) throws IOException {
      byte[] request = request("SET", name, value(key));
      if (random.nextInt(12) == 0) { // killed
        now.send(request, 0, random.nextInt(request.length));
        now.reset();
        connection = null;
        kills++;
      } else {
        width(now, 5, request, "+OK\r\n");
      }
    }

    private void width(RespClient now, int width, byte[] request, String... replies) throws IOException {
      String reply = now.send(request).text(width);
      if (reply.isEmpty()) {
        ended();
      } else {
        assertThat(replies).contains(reply);
      }
    }

    private void get(RespClient now, String name, int key) throws IOException {
      byte[] value = value(key);
      String header = now.send(request("GET", name)).line();
      if (header.startsWith("(end)")) {
        assertThat(header).isEqualTo("(end)");
        ended();
      } else if (!header.equals("$-1")) {
        assertThat(header).isEqualTo("$" + value.length);
        byte[] got = now.read(value.length);
        assertThat(Arrays.equals(got, Arrays.copyOf(value, got.length))).isTrue();
        String end = got.length < value.length ? "" : now.text(2);
        if (end.isEmpty()) {
          ended();
        } else {
          assertThat(end).isEqualTo("\r\n");
          hits++;
        }
      }
    }

    private void ended() throws IOException {
      ends++;
      if (connection != null) {
        connection.close();
      }
      connection = null;
    }

    void close() throws IOException {
      if (connection != null) {
        connection.close();
      }
    }
  }

  /// @param most failures of tiers, and clients that are killed
  private static void run(int most, long seed) throws IOException {
    FaultTier.Faults faults = new FaultTier.Faults(seed);
    OpenDoor door = new OpenDoor(4 << 20, tier -> new FaultTier(tier, faults), Map.of(RespSettings.ROOM, "1ms"),
        Access.open());
    Client client = new Client(door, seed);
    try (door) {
      int steps = 0;
      for (; faults.happened() + client.kills < most; steps++) {
        if (steps % 200 == 0) {
          boolean calm = steps % 400 == 0;
          faults.set(FaultTier.Fault.DAMAGE, calm ? 0.01 : 0.2);
          faults.set(FaultTier.Fault.FULL, calm ? 0.01 : 0.1);
          faults.set(FaultTier.Fault.STALL, calm ? 0.001 : 0.05);
          faults.set(FaultTier.Fault.ERROR, calm ? 0 : 0.02);
        }
        client.step();
      }
      assertThat(client.hits).as("seed " + seed).isGreaterThan(steps / 20);
      assertThat(client.ends).as("seed " + seed).isPositive().isLessThan(steps / 5);
      assertThat(door.figures().damages()).isPositive();
      assertThat(door.figures().drops()).isPositive();
      client.close();
    }
  }

  @Test
  void repliesUnderFailures_areAlwaysOfTheirWidth() throws IOException {
    run(270, 7);
  }

  @Test
  @Tag("proof")
  @Timeout(3600)
  void repliesUnderAHundredThousandFailures_areAlwaysOfTheirWidth() throws IOException {
    for (long seed = 1; seed <= 10; seed++) {
      run(10_000, seed);
    }
  }
}
