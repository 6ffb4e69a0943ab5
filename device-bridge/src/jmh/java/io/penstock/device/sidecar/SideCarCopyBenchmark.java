package io.penstock.device.sidecar;

import io.penstock.device.Device;
import io.penstock.device.sidecar.client.SideCarClient;
import io.penstock.device.sidecar.server.SideCarServer;
import io.penstock.system.NativeMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import reactor.core.publisher.Flux;

/// Calls of copies between two memfds through the side-car (request, socket, the node's thread, answer), beside the
/// same copies by the C library in one thread: one call after the other, and several in flight, as a process sends
/// layer after layer. Node and client are one process here: what lies between them, the socket, is the same. Time a
/// call, each on the same memory; `SideCarSpeedTest` takes turns, and goes through memory.
///
/// `mvn -Pjmh -pl device-bridge -am verify -Djmh.include=SideCarCopyBenchmark`
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
public class SideCarCopyBenchmark {
  private static final int CALLS = 16;

  /// Elements and bytes of each.
  @Param({"64x65536", "16x1048576", "1024x65536", "64x1048576"})
  public String shape = "64x65536";

  private final List<RegionCopy> copies = new ArrayList<>();
  private long each;
  private RegionMemory from;
  private RegionMemory to;
  private SideCarServer server;
  private SideCarClient client;

  @Setup
  public void open() throws IOException {
    int elements = Integer.parseInt(shape.substring(0, shape.indexOf('x')));
    each = Long.parseLong(shape.substring(shape.indexOf('x') + 1));
    from = RegionMemory.allocate("from", elements * each);
    to = RegionMemory.allocate("to", elements * each);
    from.memory().fill((byte) 7);
    to.memory().fill((byte) 1);
    Path path = Files.createTempDirectory("sidecar").resolve("s");
    server = SideCarServer.open(path, SideCarServerOptions.defaults(), Map.<Integer, Device>of());
    client = SideCarClient.open(path, SideCarClientOptions.defaults());
    client.health().filter(SideCarHealth::isHealthy).next().block();
    client.register(from.region(1)).block();
    client.register(to.region(2)).block();
    for (int i = 0; i < elements; i++) {
      copies.add(new RegionCopy(1, i * each, 2, i * each, each));
    }
  }

  @TearDown
  public void close() {
    client.close().block();
    server.close().block();
    from.close();
    to.close();
  }

  @Benchmark
  @OperationsPerInvocation(CALLS)
  public void oneByOne() {
    for (int call = 0; call < CALLS; call++) {
      client.copy(copies).block();
    }
  }

  @Benchmark
  @OperationsPerInvocation(CALLS)
  public void fourInFlight() {
    inFlight(4);
  }

  @Benchmark
  @OperationsPerInvocation(CALLS)
  public void eightInFlight() {
    inFlight(8);
  }

  private void inFlight(int depth) {
    Flux.range(0, CALLS).flatMap(call -> client.copy(copies), depth).blockLast();
  }

  @Benchmark
  @OperationsPerInvocation(CALLS)
  public MemorySegment memmove() {
    for (int call = 0; call < CALLS; call++) {
      for (RegionCopy copy : copies) {
        NativeMemory.move(from.memory().asSlice(copy.fromOffset(), each), to.memory().asSlice(copy.toOffset(), each));
      }
    }
    return to.memory();
  }
}
