package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Reads of values that others write at the same time.
@Timeout(300)
final class OverwritesTest {
  private static final int KEYS = 6;
  private static final int WRITERS = 3;
  private static final int WRITES = 150;
  private static final int[] LENGTHS = {64, 5_000, 65_536, 200_000, 300_000, 1_000_000};

  /// A value that tells which one it is.
  private static byte[] value(int number) {
    byte[] value = new byte[LENGTHS[Math.floorMod(number * 7, LENGTHS.length)]];
    Arrays.fill(value, (byte) (number * 31));
    ByteBuffer.wrap(value).putInt(number);
    return value;
  }

  @Test
  void readBesideWriters_hasOneOfTheirValues_whole_orNone() throws Exception {
    AtomicInteger writing = new AtomicInteger(WRITERS);
    try (OpenDoor door = OpenDoor.open();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int writer = 0; writer < WRITERS; writer++) {
        int number = writer;
        running.add(threads.submit(() -> {
          try {
            write(door, number);
          } finally {
            writing.decrementAndGet();
          }
          return null;
        }));
      }
      int hits = 0;
      try (RespClient reader = door.connect()) {
        for (int i = 0; writing.get() > 0 || i % KEYS != 0; i++) {
          byte[] got = reader.bulk("GET", "k" + i % KEYS);
          if (got != null) {
            hits++;
            assertThat(Arrays.equals(got, value(ByteBuffer.wrap(got).getInt()))).as("a value of one writing").isTrue();
          }
        }
      }
      for (Future<?> each : running) {
        each.get();
      }
      assertThat(hits).isPositive();
      assertThat(door.figures().writes() + door.figures().drops()).isEqualTo(WRITERS * WRITES);
      assertThat(door.figures().damages()).isZero();
    }
  }

  private static void write(OpenDoor door, int writer) throws IOException {
    Random random = new Random(writer);
    try (RespClient client = door.connect()) {
      for (int i = 0; i < WRITES; i++) {
        String key = "k" + random.nextInt(KEYS);
        assertThat(client.call("SET", key, value(writer * WRITES + i))).isEqualTo("+OK");
      }
    }
  }
}
