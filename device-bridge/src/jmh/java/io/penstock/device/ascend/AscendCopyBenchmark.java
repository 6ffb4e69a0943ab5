package io.penstock.device.ascend;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.device.ascend.DriverDouble.Profile;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
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

/// A batch of copies to a device through the whole bridge (request, queue, thread of the device, FFM, the double of the driver), beside a
/// loop in C that calls the same double with the same arguments, and beside `memcpy` of the C library. Time a batch; the bridge's cost of an element is
/// the difference of the first two divided by the elements. The double records nothing meanwhile.
///
/// `mvn -Pjmh -pl device-bridge -am verify -Djmh.include=AscendCopyBenchmark -Djmh.args="-prof gc"`
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class AscendCopyBenchmark {
  /// Elements and bytes of each.
  @Param({"4096x64", "4096x65536", "256x1048576"})
  public String shape = "4096x64";

  private final BlockScope scope = new BlockScope();
  private final Arena memory = Arena.ofShared();
  private int elements;
  private AscendDevices devices;
  private AscendDevice device;
  private CopyRequest request;
  private MethodHandle loop;
  private MethodHandle memcpy;
  private MemorySegment to;
  private MemorySegment from;
  private MemorySegment sizes;
  private MemorySegment attribute;

  @Setup
  public void open() throws Throwable {
    elements = Integer.parseInt(shape.substring(0, shape.indexOf('x')));
    long bytes = Long.parseLong(shape.substring(shape.indexOf('x') + 1));
    DriverDouble driver = DriverDouble.of(Profile.CANN_90).reset(1, 2L << 30);
    driver.record(false);
    devices = AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
    device = requireNonNull(devices.open(0).block());
    MemorySegment source = memory.allocate(elements * bytes, 64).fill((byte) 7);
    device.know(source).block();
    long there = requireNonNull(device.allocate(elements * bytes, scope).block()).address();
    request = new CopyRequest(elements);
    to = memory.allocate(JAVA_LONG, elements);
    from = memory.allocate(JAVA_LONG, elements);
    sizes = memory.allocate(JAVA_LONG, elements);
    for (int i = 0; i < elements; i++) {
      request.add(source.address() + i * bytes, there + i * bytes, bytes);
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

  @TearDown
  public void close() {
    scope.close();
    device.close().block();
    devices.close().block();
    memory.close();
  }

  @Benchmark
  public CopyReport bridge() {
    CopyReport report = requireNonNull(device.copy(request.again()).block());
    if (!report.isComplete()) {
      throw new IllegalStateException(report.toString());
    }
    return report;
  }

  @Benchmark
  public int loopInC() throws Throwable {
    int code = (int) loop.invokeExact(1, to, from, sizes, (long) elements, attribute);
    if (code != 0) {
      throw new IllegalStateException("code must be 0 (was " + code + ")");
    }
    return code;
  }

  @Benchmark
  public void memcpyInC() throws Throwable {
    memcpy.invokeExact(1, to, from, sizes, (long) elements);
  }
}
