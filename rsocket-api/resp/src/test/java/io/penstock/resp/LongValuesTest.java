package io.penstock.resp;

import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.wire.security.Access;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Long values are stored and read about as fast as those of 1 MiB, by a client that uses its memory again. For a quiet
/// machine.
@Timeout(300)
final class LongValuesTest {
  private static final int MIB = 1 << 20;
  private static final long BYTES = 512L * MIB;
  private static final int ROUNDS = 5;

  /// Bytes a nanosecond of SET and GET of one client.
  private record Rates(double set, double get) {}

  private static Rates rates(RespClient client, int length) throws IOException {
    byte[] value = new byte[length];
    new Random(length).nextBytes(value);
    byte[] set = request("SET", "k" + length, value);
    byte[] get = request("GET", "k" + length);
    byte[] got = value.clone(); // memory that has been written to: the system gives a client none meanwhile
    Arrays.fill(got, (byte) 0);
    int times = (int) (BYTES / length);
    long began = System.nanoTime();
    for (int i = 0; i < times; i++) {
      assertThat(client.send(set).line()).isEqualTo("+OK");
    }
    long stored = System.nanoTime();
    for (int i = 0; i < times; i++) {
      assertThat(client.send(get).line()).isEqualTo("$" + length);
      assertThat(client.read(got)).isEqualTo(length);
      assertThat(i > 0 || Arrays.equals(got, value)).isTrue();
      assertThat(client.text(2)).isEqualTo("\r\n");
    }
    double bytes = (double) times * length;
    return new Rates(bytes / (stored - began), bytes / (System.nanoTime() - stored));
  }

  @Test
  @Tag("proof")
  void longValues_areAsFastAsThoseOfAMebibyte() throws IOException {
    try (OpenDoor door = new OpenDoor(160L * MIB, tier -> tier, Map.of(), Access.open());
        RespClient client = door.connect()) {
      rates(client, MIB);
      for (int mebibytes : new int[] {16, 32, 64}) {
        double[] set = new double[ROUNDS];
        double[] get = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
          Rates one = rates(client, MIB);
          Rates all = rates(client, mebibytes * MIB);
          set[i] = all.set / one.set;
          get[i] = all.get / one.get;
        }
        Arrays.sort(set);
        Arrays.sort(get);
        System.out.printf("%d MiB against 1 MiB, median of %d: SET %.2f, GET %.2f%n", mebibytes, ROUNDS,
            set[ROUNDS / 2], get[ROUNDS / 2]);
        assertThat(set[ROUNDS / 2]).isGreaterThanOrEqualTo(0.85);
        assertThat(get[ROUNDS / 2]).isGreaterThanOrEqualTo(0.85);
      }
      assertThat(door.figures().drops()).isZero();
    }
  }
}
