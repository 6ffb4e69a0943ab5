package io.penstock.device.ascend;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.device.ascend.DriverDouble.Profile;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;

/// What the bridge costs beside C: batches by turns through the bridge, in a loop in C that makes the same call to the same double, and by
/// `memcpy` alone, so that a machine that is shared is as slow for one as for the others. Medians. Through the bridge, bandwidth is that of a
/// few batches one behind the other, as they come from a node; a batch alone pays for waking the thread of an idle device.
@Tag("proof")
@Timeout(300)
final class AscendSpeedTest {
  private static final int ROUNDS = 61;
  private static final int WARM_UP = 10;
  /// Batches a turn.
  private static final int BATCHES = 4;

  /// One batch and three ways to copy it.
  private static final class Batch implements AutoCloseable {
    private final BlockScope scope = new BlockScope();
    private final Arena memory = Arena.ofShared();
    private final int elements;
    private final AscendDevices devices;
    private final AscendDevice device;
    private final List<CopyRequest> requests;
    private final CopyRequest first;
    private final MemorySegment to;
    private final MemorySegment from;
    private final MemorySegment sizes;
    private final MemorySegment attribute;
    private final MemorySegment scrub = memory.allocate(128 << 20, 4096);
    private final MethodHandle loop;
    private final MethodHandle memcpy;

    Batch(int elements, long bytes) throws Throwable {
      this.elements = elements;
      DriverDouble driver = DriverDouble.of(Profile.CANN_90).reset(1, 1L << 30);
      driver.record(false);
      devices = AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
      device = requireNonNull(devices.open(0).block());
      MemorySegment source = memory.allocate(elements * bytes, 4096).fill((byte) 7);
      device.know(source).block();
      long there = requireNonNull(device.allocate(elements * bytes, scope).block()).address();
      requests = Stream.generate(() -> new CopyRequest(elements)).limit(BATCHES).toList();
      first = new CopyRequest(1).add(source.address(), there, bytes);
      to = memory.allocate(JAVA_LONG, elements);
      from = memory.allocate(JAVA_LONG, elements);
      sizes = memory.allocate(JAVA_LONG, elements);
      for (int i = 0; i < elements; i++) {
        for (CopyRequest request : requests) {
          request.add(source.address() + i * bytes, there + i * bytes, bytes);
        }
        to.setAtIndex(JAVA_LONG, i, there + i * bytes);
        from.setAtIndex(JAVA_LONG, i, source.address() + i * bytes);
        sizes.setAtIndex(JAVA_LONG, i, bytes);
      }
      attribute = memory.allocate(AclLayouts.BATCH_ATTRIBUTE);
      attribute.set(JAVA_INT, AclLayouts.offset(AclLayouts.LOCATION, "type"), new MemoryPlace(0).type());
      loop = driver.handle("double_loop", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));
      memcpy = driver.handle("double_memcpy", FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));
      driver.handle("aclrtSetDevice", FunctionDescriptor.of(JAVA_INT, JAVA_INT)).invokeWithArguments(0);
    }

    /// With nothing of the batch in a cache, whichever way came before.
    private Batch scrubbed() {
      if (sizes.get(JAVA_LONG, 0) > 4096) {
        scrub.fill((byte) elements);
      }
      return this;
    }

    private long alone(CopyRequest request) {
      long began = System.nanoTime();
      assertThat(requireNonNull(device.copy(request.again()).block()).failed()).isZero();
      return System.nanoTime() - began;
    }

    private long bridge() {
      long began = System.nanoTime();
      Flux.fromIterable(requests).map(CopyRequest::again).transform(device.copying())
          .doOnNext(copied -> assertThat(copied.report().failed()).isZero()).blockLast();
      return (System.nanoTime() - began) / BATCHES;
    }

    private long loopInC() throws Throwable {
      long began = System.nanoTime();
      assertThat((int) loop.invokeExact(BATCHES, to, from, sizes, (long) elements, attribute)).isZero();
      return (System.nanoTime() - began) / BATCHES;
    }

    private long memcpyInC() throws Throwable {
      long began = System.nanoTime();
      memcpy.invokeExact(BATCHES, to, from, sizes, (long) elements);
      return (System.nanoTime() - began) / BATCHES;
    }

    /// Median nanoseconds a batch of each way.
    Map<String, Long> measure() throws Throwable {
      String[] names = {"bridge", "bridge, a batch alone", "bridge, an element alone", "loop in C", "memcpy in C"};
      long[][] nanos = new long[names.length][ROUNDS];
      for (int i = -WARM_UP; i < ROUNDS; i++) {
        long[] now = {scrubbed().bridge(), scrubbed().alone(requests.getFirst()), scrubbed().alone(first), scrubbed().loopInC(),
            scrubbed().memcpyInC()};
        for (int way = 0; i >= 0 && way < now.length; way++) {
          nanos[way][i] = now[way];
        }
      }
      Map<String, Long> medians = new TreeMap<>();
      for (int way = 0; way < names.length; way++) {
        Arrays.sort(nanos[way]);
        medians.put(names[way], nanos[way][ROUNDS / 2]);
      }
      return medians;
    }

    @Override
    public void close() {
      scope.close();
      device.close().block();
      devices.close().block();
      memory.close();
    }
  }

  @ParameterizedTest
  @CsvSource({"4096, 65536", "256, 1048576"})
  void bandwidth_isThatOfMemcpyOrNearly(int elements, long bytes) throws Throwable {
    try (Batch batch = new Batch(elements, bytes)) {
      Map<String, Long> nanos = batch.measure();
      double share = (double) nanos.get("memcpy in C") / nanos.get("bridge");
      System.out.printf(Locale.ROOT, "%d x %d bytes: %s ns, %.3f of memcpy%n", elements, bytes, nanos, share);
      assertThat(share).as("share of memcpy's bandwidth, %s", nanos).isGreaterThanOrEqualTo(0.9);
    }
  }

  @ParameterizedTest
  @CsvSource("4096, 64")
  void element_costsLittleMoreThanInC(int elements, long bytes) throws Throwable {
    try (Batch batch = new Batch(elements, bytes)) {
      for (int i = 0; i < 20; i++) {
        batch.measure();
      }
      Map<String, Long> nanos = batch.measure();
      double more = (double) (nanos.get("bridge") - nanos.get("loop in C")) / elements;
      System.out.printf(Locale.ROOT, "%d x %d bytes: %s ns, %.1f ns an element more than in C%n", elements, bytes, nanos, more);
      assertThat(more).as("%s", nanos).isLessThan(25);
    }
  }
}
