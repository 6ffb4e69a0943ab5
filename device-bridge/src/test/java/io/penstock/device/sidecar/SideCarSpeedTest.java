package io.penstock.device.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.device.sidecar.client.SideCarClient;
import io.penstock.device.sidecar.server.SideCarServer;
import io.penstock.system.NativeMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;

/// What the side-car's copies in host memory cost beside `memmove` of the same elements in one thread: by turns, so
/// that a machine that is shared is as slow for one as for the other. Medians of the time a call. Calls go through the
/// socket as a process sends layer after layer: one waited for before the next, or several in flight.
@Tag("proof")
@Timeout(300)
final class SideCarSpeedTest {
  private static final int ROUNDS = 61;
  private static final int WARM_UP = 10;
  /// Of calls of the same shape, before those: what they need is compiled then, which takes a core for about half of
  /// it.
  private static final long WARM_NANOS = TimeUnit.SECONDS.toNanos(3);
  /// Calls a turn, at most, and bytes of them, about.
  private static final int CALLS = 32;
  private static final long TURN_BYTES = 128 << 20;

  @TempDir
  private Path folder;

  /// A node, a client, and calls that go through memory from its beginning to its end, over and over.
  private static final class Calls implements AutoCloseable {
    private final int calls;
    private final RegionMemory from;
    private final RegionMemory to;
    private final SideCarServer node;
    private final SideCarClient client;
    private final List<List<RegionCopy>> layers = new ArrayList<>();

    Calls(Path path, int elements, long bytes, int layers) throws IOException {
      this.calls = Math.clamp(TURN_BYTES / (elements * bytes), 2, CALLS);
      from = RegionMemory.allocate("from", elements * bytes * layers);
      to = RegionMemory.allocate("to", elements * bytes * layers);
      from.memory().fill((byte) 7);
      to.memory().fill((byte) 1);
      node = SideCarServer.open(path, SideCarServerOptions.defaults(), Map.of());
      client = SideCarClient.open(path, SideCarClientOptions.defaults());
      client.health().filter(SideCarHealth::isHealthy).next().block();
      client.register(from.region(1)).block();
      client.register(to.region(2)).block();
      for (int layer = 0; layer < layers; layer++) {
        List<RegionCopy> copies = new ArrayList<>();
        for (int element = 0; element < elements; element++) {
          long offset = ((long) layer * elements + element) * bytes;
          copies.add(new RegionCopy(1, offset, 2, offset, bytes));
        }
        this.layers.add(copies);
      }
    }

    private List<RegionCopy> layer(int call) {
      return layers.get(call % layers.size());
    }

    private void memmove() {
      for (int call = 0; call < calls; call++) {
        for (RegionCopy copy : layer(call)) {
          NativeMemory.move(from.memory().asSlice(copy.fromOffset(), copy.bytes()),
              to.memory().asSlice(copy.toOffset(), copy.bytes()));
        }
      }
    }

    private void oneByOne() {
      for (int call = 0; call < calls; call++) {
        client.copy(layer(call)).block();
      }
    }

    private void inFlight(int depth) {
      Flux.range(0, calls).flatMap(call -> client.copy(layer(call)), depth).blockLast();
    }

    /// Median microseconds a call of each way.
    Map<String, Double> measure() {
      for (long began = System.nanoTime(); System.nanoTime() - began < WARM_NANOS;) {
        inFlight(4);
      }
      Map<String, Runnable> ways = new LinkedHashMap<>();
      ways.put("memmove", this::memmove);
      ways.put("one by one", this::oneByOne);
      for (int depth : new int[] {1, 4, 8}) {
        ways.put(depth + " in flight", () -> inFlight(depth));
      }
      Map<String, double[]> micros = new LinkedHashMap<>();
      ways.keySet().forEach(way -> micros.put(way, new double[ROUNDS]));
      for (int round = -WARM_UP; round < ROUNDS; round++) {
        for (Map.Entry<String, Runnable> way : ways.entrySet()) {
          long began = System.nanoTime();
          way.getValue().run();
          double took = (System.nanoTime() - began) / 1e3 / calls;
          if (round >= 0) {
            micros.get(way.getKey())[round] = took;
          }
        }
      }
      Map<String, Double> medians = new LinkedHashMap<>();
      micros.forEach((way, all) -> {
        Arrays.sort(all);
        medians.put(way, all[ROUNDS / 2]);
      });
      return medians;
    }

    @Override
    public void close() {
      client.close().block();
      node.close().block();
      from.close();
      to.close();
    }
  }

  @ParameterizedTest
  @CsvSource({"64, 65536, 1", "64, 65536, 16", "16, 1048576, 8", "1024, 65536, 2"})
  void callsInFlight_haveTheBandwidthOfMemmoveOrNearly(int elements, long bytes, int layers) throws IOException {
    try (Calls calls = new Calls(folder.resolve("s"), elements, bytes, layers)) {
      Map<String, Double> micros = calls.measure();
      double memmove = micros.get("memmove");
      String shape = "%d x %d bytes, %d layers".formatted(elements, bytes, layers);
      System.out.println(shape);
      micros.forEach((way, each) -> System.out.printf(Locale.ROOT, "  %-12s %8.1f us a call, %.2f of memmove%n", way,
          each, memmove / each));
      assertThat(memmove / micros.get("4 in flight")).as("share of memmove's bandwidth, %s: %s", shape, micros)
          .isGreaterThanOrEqualTo(0.8);
    }
  }
}
