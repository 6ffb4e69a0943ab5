package io.penstock.node.content;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.SpaceId;
import io.penstock.node.shape.BlockShape;
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

/// Cost of making and of comparing the bytes of one block of 64 KiB over 8 layers; blocks follow each other through
/// `bytes` of memory, so 256 KiB stay in the cache and 256 MiB do not. The baseline, and the ceiling, is a copy of the
/// same bytes. `mvn -Pjmh -pl rsocket-api/node -am verify -Djmh.include=KvPattern`
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class KvPatternBenchmark {
  private static final BlockLayout LAYOUT = BlockShape.of(64 << 10, 8).layout();
  private static final GranuleRange ALL = GranuleRange.all(LAYOUT);

  @Param({"262144", "268435456"})
  public long bytes;

  private Arena arena;
  private MemorySegment memory;
  private MemorySegment spare;
  private BlockKey[] keys;
  private int next;

  @Setup
  public void setup() {
    arena = Arena.ofShared();
    memory = arena.allocate(bytes, 64);
    spare = arena.allocate(LAYOUT.blockBytes(), 64);
    keys = new BlockKey[(int) (bytes / LAYOUT.blockBytes())];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = new BlockKey(new SpaceId(1, 2), new BlockHash(3, i));
      KvPattern.fill(keys[i], LAYOUT, ALL, block(i));
    }
  }

  @TearDown
  public void tearDown() {
    arena.close();
  }

  @Benchmark
  public void fill() {
    int i = turn();
    KvPattern.fill(keys[i], LAYOUT, ALL, block(i));
  }

  @Benchmark
  public int compare() {
    int i = turn();
    return KvPattern.mismatch(keys[i], LAYOUT, ALL, block(i));
  }

  @Benchmark
  public void copy() {
    spare.copyFrom(block(turn()));
  }

  private int turn() {
    next = next + 1 == keys.length ? 0 : next + 1;
    return next;
  }

  private MemorySegment block(int i) {
    return memory.asSlice((long) i * LAYOUT.blockBytes(), LAYOUT.blockBytes());
  }
}
