package io.penstock.gateway.choice;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/// Block updates a second, of the index and of a `ConcurrentHashMap` from name to a bit for each instance and medium,
/// which is the baseline. An update is an event about one block of one of 8 instances: it comes, or goes. At a time
/// about `blocks` names are known. `mvn -Pjmh -pl rsocket-api/gateway -am verify -Djmh.include=BlockIndex`
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Threads(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class BlockIndexBenchmark {
  private static final int UPDATES = 1024;
  private static final int INSTANCES = 8;
  private static final int PROMPT = 1000;

  @Param({"100000", "1000000"})
  public int blocks;

  private long[] names;
  private BlockIndex index;
  private ConcurrentHashMap<Long, long[]> map;
  private final AtomicInteger lanes = new AtomicInteger();

  /// Where a thread is in the names: each block comes, and goes after all others came.
  @State(Scope.Thread)
  public static class Lane {
    private int next;

    @Setup
    public void setup(BlockIndexBenchmark shared) {
      next = shared.lanes.getAndIncrement() * 7919;
    }
  }

  @Setup
  public void setup() {
    names = new SplittableRandom(1).longs(2L * blocks).toArray();
    index = new BlockIndex();
    map = new ConcurrentHashMap<>();
    for (int i = 0; i < blocks; i++) {
      index.add(i / PROMPT % INSTANCES, Medium.DEVICE, names[i]);
      add(i / PROMPT % INSTANCES, names[i]);
    }
  }

  @Benchmark
  @OperationsPerInvocation(UPDATES)
  public void index(Lane lane) {
    for (int i = 0; i < UPDATES; i += 2) {
      int at = lane.next++ % blocks;
      index.remove(at / PROMPT % INSTANCES, Medium.DEVICE, names[at]);
      index.add(at / PROMPT % INSTANCES, Medium.DEVICE, names[at]);
    }
  }

  @Benchmark
  @OperationsPerInvocation(UPDATES)
  public void concurrentHashMap(Lane lane) {
    for (int i = 0; i < UPDATES; i += 2) {
      int at = lane.next++ % blocks;
      remove(at / PROMPT % INSTANCES, names[at]);
      add(at / PROMPT % INSTANCES, names[at]);
    }
  }

  /// Looks up a prompt of 1,000 blocks that one instance has.
  @Benchmark
  public BlockIndex.Overlap overlap(Lane lane) {
    int from = lane.next++ % (blocks / PROMPT) * PROMPT;
    return index.overlap(Arrays.copyOfRange(names, from, from + PROMPT), -1L);
  }

  private void add(int instance, long name) {
    map.compute(name, (key, had) -> {
      long[] places = had == null ? new long[Medium.values().length] : had.clone();
      places[0] |= 1L << instance;
      return places;
    });
  }

  private void remove(int instance, long name) {
    map.computeIfPresent(name, (key, had) -> {
      long[] places = had.clone();
      places[0] &= ~(1L << instance);
      return (places[0] | places[1] | places[2] | places[3]) == 0 ? null : places;
    });
  }
}
