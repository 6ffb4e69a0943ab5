package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.PenstockMain;
import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A node that is killed and started again, and clients that dial again. For a quiet machine.
@Timeout(300)
final class KilledNodeTest {
  private static final int VALUES = 40;
  private static final int CLIENTS = 8;
  private static final int LENGTH = 600_000;

  @TempDir
  private Path folder;

  private static byte[] value(long seed) {
    byte[] value = new byte[LENGTH];
    new Random(seed).nextBytes(value);
    return value;
  }

  private Process start(int port) throws IOException {
    return new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-Xmx256m",
        "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
        "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED", "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
        "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
        PenstockMain.class.getName(), "serve", "--listen-port", "0", "--admin-port", "off", "--resp",
        "127.0.0.1:" + port, "--resp-part-bytes", "262656", "--dram", "4MiB", "--ssd", "256MiB", "--ssd-dir",
        folder.resolve("ssd").toString(), "--ssd-segment-bytes", "4MiB").redirectErrorStream(true)
        .redirectOutput(folder.resolve("log").toFile()).start();
  }

  private static RespClient dial(int port, Process node) throws Exception {
    for (int i = 0; i < 12_000; i++) {
      try {
        return new RespClient(port);
      } catch (ConnectException e) {
        assertThat(node.isAlive()).isTrue();
        assertThat(node.waitFor(10, TimeUnit.MILLISECONDS)).isFalse();
      }
    }
    throw new AssertionError("the door must open (did not)");
  }

  private static long number(RespClient client, String name) throws IOException {
    String info = new String(Objects.requireNonNull(client.bulk("INFO", "memory")), StandardCharsets.UTF_8);
    return Long.parseLong(info.replaceAll("(?s).*\\b" + name + ":(\\d+).*", "$1"));
  }

  @Test
  @Tag("proof")
  void clientsThatDialAgain_goOnWithinASecond_andFindWhatIsOnTheDisk() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    List<RespClient> cut = new ArrayList<>();
    Process first = start(port);
    try (RespClient client = dial(port, first)) {
      for (int i = 0; i < VALUES; i++) {
        assertThat(client.call("SET", "k" + i, value(i))).isEqualTo("+OK");
      }
      for (int i = 0; i < CLIENTS; i++) {
        cut.add(new RespClient(port));
        assertThat(cut.get(i).call("PING")).isEqualTo("+PONG");
      }
      Eventually.holds("what had to leave memory is on the disk", Duration.ofSeconds(60),
          () -> number(client, "used_memory") <= number(client, "maxmemory"));
    } finally {
      first.destroyForcibly().waitFor();
    }
    for (RespClient client : cut) {
      assertThat(client.isEnded()).isTrue();
      client.close();
    }
    Process second = start(port);
    try (RespClient earliest = dial(port, second)) {
      long opened = System.nanoTime();
      int found = 0;
      for (int i = 0; i < CLIENTS; i++) {
        try (RespClient client = new RespClient(port)) {
          byte[] got = client.bulk("GET", "k" + i);
          found += got == null ? 0 : 1;
          assertThat(got == null || Arrays.equals(got, value(i))).isTrue();
        }
      }
      long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - opened);
      System.out.printf("%d clients went on %d ms after the door was open; %d of their values were there%n", CLIENTS,
          tookMillis, found);
      assertThat(tookMillis).isLessThanOrEqualTo(1_000);
      assertThat(found).as("values that had left memory").isGreaterThan(CLIENTS / 2);
      for (int i = CLIENTS; i < VALUES; i++) {
        byte[] got = earliest.bulk("GET", "k" + i);
        assertThat(got == null || Arrays.equals(got, value(i))).isTrue();
      }
    } finally {
      second.destroyForcibly().waitFor();
    }
  }
}
