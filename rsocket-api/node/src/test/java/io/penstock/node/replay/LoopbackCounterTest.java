package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LoopbackCounterTest {
  private static final String HEAD =
      """
          Inter-|   Receive                                                |  Transmit
           face |bytes    packets errs drop fifo frame compressed multicast|\
          bytes    packets errs drop fifo colls carrier compressed
          """;

  @TempDir
  private Path folder;

  @Test
  void receivedBytes_areThoseOfTheLoopbackInterface() throws IOException {
    LoopbackCounter counter = counter(
        HEAD + "  eth0: 7 8 0 0 0 0 0 0 9 10 0 0 0 0 0 0\n    lo: 123456789012 4 0 0 0 0 0 0 5 6 0 0 0 0 0 0\n");

    assertThat(counter.receivedBytes()).isEqualTo(123_456_789_012L);
    assertThat(counter.receivedSince(123_456_789_000L)).isEqualTo(12L);
    assertThat(counter.receivedSince(null)).isNull();
  }

  @Test
  void receivedBytes_whereNothingIsToBeRead_areUnknown() throws IOException {
    assertThat(new LoopbackCounter(folder.resolve("none")).receivedBytes()).isNull();
    assertThat(counter(HEAD).receivedSince(1L)).isNull();
  }

  private LoopbackCounter counter(String table) throws IOException {
    return new LoopbackCounter(Files.writeString(folder.resolve("dev"), table));
  }
}
