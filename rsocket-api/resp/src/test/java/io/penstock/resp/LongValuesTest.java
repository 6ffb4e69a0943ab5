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
  private static final int BYTES = 512 * MIB;
  private static final int ROUNDS = 7;

  /// Bytes a nanosecond of SET and GET of one client.
  private record Rates(double set, double get) {}

  /// A client that sends and reads each value from and into the same mebibyte of its memory, whatever the length of the
  /// value: else it would measure how fast the system gives memory, or how slow that is which no cache holds.
  private static final class Story {
    private final int mebibytes;
    private final byte[] mebibyte = new byte[MIB];
    private final byte[] first;
    private final byte[] last;
    private final byte[] get;
    private final byte[] got = new byte[MIB];

    Story(int mebibytes) {
      this.mebibytes = mebibytes;
      new Random(mebibytes).nextBytes(mebibyte);
      String key = "k" + mebibytes;
      byte[] head = RespClient.bytes(
          "*3\r\n$3\r\nSET\r\n$" + key.length() + "\r\n" + key + "\r\n$" + mebibytes * MIB + "\r\n");
      first = all(head, mebibyte);
      last = all(mebibytes == 1 ? first : mebibyte, RespClient.bytes("\r\n"));
      get = request("GET", key);
    }

    private static byte[] all(byte[] before, byte[] behind) {
      byte[] all = Arrays.copyOf(before, before.length + behind.length);
      System.arraycopy(behind, 0, all, before.length, behind.length);
      return all;
    }

    Rates rates(RespClient client) throws IOException {
      int times = BYTES / (mebibytes * MIB);
      long began = System.nanoTime();
      for (int i = 0; i < times; i++) {
        for (int j = 1; j < mebibytes; j++) {
          client.send(j == 1 ? first : mebibyte);
        }
        assertThat(client.send(last).line()).isEqualTo("+OK");
      }
      long stored = System.nanoTime();
      for (int i = 0; i < times; i++) {
        assertThat(client.send(get).line()).isEqualTo("$" + mebibytes * MIB);
        for (int j = 0; j < mebibytes; j++) {
          assertThat(client.read(got)).isEqualTo(MIB);
          assertThat(i > 0 || Arrays.equals(got, mebibyte)).isTrue();
        }
        assertThat(client.text(2)).isEqualTo("\r\n");
      }
      return new Rates((double) BYTES / (stored - began), (double) BYTES / (System.nanoTime() - stored));
    }
  }

  @Test
  @Tag("proof")
  void longValues_areAsFastAsThoseOfAMebibyte() throws IOException {
    try (OpenDoor door = new OpenDoor(160L * MIB, tier -> tier, Map.of(), Access.open());
        RespClient client = door.connect()) {
      Story mebibyte = new Story(1);
      mebibyte.rates(client);
      for (int mebibytes : new int[] {16, 32, 64}) {
        Story story = new Story(mebibytes);
        story.rates(client);
        double[] set = new double[ROUNDS];
        double[] get = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
          Rates one = mebibyte.rates(client);
          Rates all = story.rates(client);
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
