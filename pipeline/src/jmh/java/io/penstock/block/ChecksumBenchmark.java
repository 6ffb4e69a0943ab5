package io.penstock.block;

import io.penstock.check.Checksum;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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

/// CRC32C of a granule, beside a copy of the same bytes, and the join of two checksums.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ChecksumBenchmark {
  @Param({"4096", "65536", "1048576"})
  int bytes;

  private Arena arena;
  private MemorySegment source;
  private MemorySegment target;

  @Setup
  public void allocate() {
    arena = Arena.ofShared();
    source = arena.allocate(bytes, 64).fill((byte) 0x5A);
    target = arena.allocate(bytes, 64);
  }

  @TearDown
  public void free() {
    arena.close();
  }

  @Benchmark
  public int crc32c() {
    return Checksum.of(source);
  }

  @Benchmark
  public MemorySegment baseline_copy() {
    return target.copyFrom(source);
  }

  @Benchmark
  public int combine() {
    return Checksum.combine(0x12345678, 0x9ABCDEF0, bytes);
  }
}
