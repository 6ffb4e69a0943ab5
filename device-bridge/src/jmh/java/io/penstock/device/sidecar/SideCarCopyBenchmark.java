package io.penstock.device.sidecar;

import io.penstock.device.Device;
import io.penstock.device.system.CLibrary;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import reactor.core.publisher.Flux;

/// A call of copies between two memfds through the side-car (request, socket, the node's thread, answer), beside the same copies by the C
/// library in one thread; the same elements as one call, and as four calls in flight. Node and client are one process here: what lies between
/// them, the socket, is the same. Time a call.
///
/// `mvn -Pjmh -pl device-bridge -am verify -Djmh.include=SideCarCopyBenchmark`
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
public class SideCarCopyBenchmark {
  /// Elements and bytes of each.
  @Param({"64x65536", "16x1048576", "1024x65536", "64x1048576"})
  public String shape = "64x65536";

  private final List<RegionCopy> copies = new ArrayList<>();
  private List<List<RegionCopy>> quarters = List.of();
  private long each;
  private SharedMemory from;
  private SharedMemory to;
  private SideCarServer server;
  private SideCarClient client;

  @Setup
  public void open() throws IOException {
    int elements = Integer.parseInt(shape.substring(0, shape.indexOf('x')));
    each = Long.parseLong(shape.substring(shape.indexOf('x') + 1));
    from = SharedMemory.allocate("from", elements * each);
    to = SharedMemory.allocate("to", elements * each);
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
    int quarter = elements / 4;
    quarters = IntStream.range(0, 4).mapToObj(i -> copies.subList(i * quarter, (i + 1) * quarter)).toList();
  }

  @TearDown
  public void close() {
    client.close().block();
    server.close().block();
    from.close();
    to.close();
  }

  @Benchmark
  public void oneCall() {
    client.copy(copies).block();
  }

  @Benchmark
  public void fourCallsInFlight() {
    Flux.fromIterable(quarters).flatMap(client::copy).blockLast();
  }

  @Benchmark
  public MemorySegment memcpy() {
    for (RegionCopy copy : copies) {
      CLibrary.move(from.memory().asSlice(copy.fromOffset(), each), to.memory().asSlice(copy.toOffset(), each));
    }
    return to.memory();
  }
}
