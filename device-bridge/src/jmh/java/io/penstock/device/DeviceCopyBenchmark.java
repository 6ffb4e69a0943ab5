package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// 4,096 copies of 64 KiB to a simulated device (256 MiB, more than any cache), in batches of 1, 64 and 4,096 elements,
/// each batch waited for, beside the same copies as plain `MemorySegment.copy` in one thread: the ceiling. Time an
/// element; GB/s are 65,536 divided by it.
///
/// `mvn -Pjmh -pl device-bridge -am verify -Djmh.include=DeviceCopyBenchmark`
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 2)
@Measurement(iterations = 5, time = 2)
public class DeviceCopyBenchmark {
  private static final int ELEMENTS = 4096;
  private static final int ELEMENT_BYTES = 64 << 10;
  private static final long BYTES = (long) ELEMENTS * ELEMENT_BYTES;

  private final BlockScope scope = new BlockScope();
  private final Arena memory = Arena.ofShared();
  private Device device;
  private long there;
  private MemorySegment[] host;
  private MemorySegment plain;

  @Setup
  public void open() {
    device = SimulatedDevice.open(SimulatedDeviceOptions.defaults(BYTES));
    there = requireNonNull(device.allocate(BYTES, scope).block()).address();
    MemorySegment source = memory.allocate(BYTES, 64).fill((byte) 7);
    plain = memory.allocate(BYTES, 64);
    host = new MemorySegment[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
      host[i] = source.asSlice((long) i * ELEMENT_BYTES, ELEMENT_BYTES);
    }
  }

  @TearDown
  public void close() {
    scope.close();
    device.close().block();
    memory.close();
  }

  @Benchmark
  @OperationsPerInvocation(ELEMENTS)
  public void toDevice_batchesOf1() {
    copy(1);
  }

  @Benchmark
  @OperationsPerInvocation(ELEMENTS)
  public void toDevice_batchesOf64() {
    copy(64);
  }

  @Benchmark
  @OperationsPerInvocation(ELEMENTS)
  public void toDevice_batchesOf4096() {
    copy(4096);
  }

  @Benchmark
  @OperationsPerInvocation(ELEMENTS)
  public MemorySegment baseline_memorySegmentCopy() {
    for (int i = 0; i < ELEMENTS; i++) {
      MemorySegment.copy(host[i], 0, plain, (long) i * ELEMENT_BYTES, ELEMENT_BYTES);
    }
    return plain;
  }

  private void copy(int batchElements) {
    for (int from = 0; from < ELEMENTS; from += batchElements) {
      CopyBatch batch = new CopyBatch(CopyDirection.TO_DEVICE);
      for (int i = from; i < from + batchElements; i++) {
        batch.add(host[i], there + (long) i * ELEMENT_BYTES);
      }
      device.copy(batch).block();
    }
  }
}
