package io.penstock.pool;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/// The match of a prefix of 247 blocks, anywhere in a full index. The keys are new objects each time, as decoded from a
/// request.
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgs = "-Xmx3g")
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class PrefixIndexBenchmark {
  private static final SpaceId SPACE = new SpaceId(1, 2);
  private static final int PREFIX = 247;

  @Param({"10000", "10000000"})
  public int blocks;

  private final Random random = new Random(7);
  private PrefixIndex index;
  private List<BlockKey> request;

  @Setup
  public void fill() {
    index = new PrefixIndex(SPACE);
    for (int number = 0; number < blocks; number++) {
      index.set(key(number), 1);
    }
    System.out.printf("%.1f bytes a block%n", index.bytes() / (double) blocks);
  }

  @Setup(Level.Invocation)
  public void ask() {
    List<BlockKey> keys = new ArrayList<>(PREFIX);
    for (int i = 0; i < PREFIX; i++) {
      keys.add(key(random.nextInt(blocks)));
    }
    request = List.copyOf(keys);
  }

  @Benchmark
  public int match() {
    return index.prefix(request, 1);
  }

  private static BlockKey key(long number) {
    long high = (number + 1) * 0x9E3779B97F4A7C15L;
    return new BlockKey(SPACE, new BlockHash(high ^ (high >>> 29), high * 0x94D049BB133111EBL));
  }
}
