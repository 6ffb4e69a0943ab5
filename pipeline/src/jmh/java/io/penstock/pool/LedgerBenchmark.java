package io.penstock.pool;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SpaceId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/// One reference, a touch or an insert that evicts, beside an access-ordered map that does the same.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class LedgerBenchmark {
  private static final int CAPACITY = 50_000;
  private static final int KEYS = 1 << 17;

  private final BlockKey[] keys = new BlockKey[KEYS];
  private Ledger<BlockKey> ledger;
  private Map<BlockKey, BlockKey> map;
  private int next;

  @Setup
  public void fill() {
    Random random = new Random(7);
    for (int i = 0; i < KEYS; i++) {
      keys[i] = new BlockKey(new SpaceId(1, 2), new BlockHash(random.nextLong(), random.nextInt(KEYS)));
    }
    ledger = new Ledger<>(new SpaceId(1, 2), EvictionPolicy.LRU, CAPACITY);
    map = new LinkedHashMap<>(CAPACITY, 0.75f, true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<BlockKey, BlockKey> eldest) {
        return size() > CAPACITY;
      }
    };
  }

  @Benchmark
  public BlockKey reference() {
    BlockKey key = keys[next++ & (KEYS - 1)];
    BlockKey hit = ledger.touch(key, (moved, value, level) -> {});
    if (hit == null) {
      ledger.insert(key, key, (victim, value, level) -> {});
    }
    return key;
  }

  @Benchmark
  public BlockKey baseline_linkedHashMap() {
    BlockKey key = keys[next++ & (KEYS - 1)];
    if (map.get(key) == null) {
      map.put(key, key);
    }
    return key;
  }
}
