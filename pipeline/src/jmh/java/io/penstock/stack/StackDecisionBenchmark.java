package io.penstock.stack;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.PrefixHasher;
import io.penstock.pool.curve.MissRatioCurve;
import io.penstock.pool.curve.MissRatioOptions;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.TierInputs;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
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

/// What a decision of a stack costs a key, and what the estimate of other capacities adds to it: leases of 64 keys that
/// hit in a stack of 65,536 blocks. `curve` is the estimate alone, over the same keys in the same order. It has to
/// fetch each key from memory, as `baseline_touch` does, which in a decision is done already: so the share of the
/// estimate is (`curve` − `baseline_touch`) / `lease`.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class StackDecisionBenchmark {
  private static final int WINDOW = 64;
  private static final int BLOCKS = 1 << 16;
  private static final int LEASES = 1 << 12;

  /// Most sampled keys; 0 for no estimate.
  @Param({"0", "4096"})
  int samples;

  private final CacheSpace space = CacheSpace.of("bench", BlockLayout.attention(1, 1, 1, 16, ElementType.BF16));
  private final List<List<BlockKey>> leases = new ArrayList<>();
  private TierStack stack;
  private MissRatioCurve curve;
  private int next;

  @Setup
  public void fill() {
    stack = new TierStack(space, List.of(new StackLevel.Host("dram", BLOCKS)), StackOptions.defaults("stack"),
        TierListener.noop(), TierInputs.ofSystem(), new Sampling(samples, 7));
    curve = new MissRatioCurve(space.id(), MissRatioOptions.live(BLOCKS, samples, 7));
    List<BlockKey> keys = new ArrayList<>();
    for (int i = 0; i < BLOCKS; i++) {
      keys.add(space.key(PrefixHasher.ofTraceId(i)));
    }
    for (int first = 0; first < BLOCKS; first += WINDOW) {
      put(keys.subList(first, first + WINDOW));
    }
    Random random = new Random(7);
    for (int i = 0; i < LEASES; i++) {
      int first = WINDOW * Math.min(random.nextInt(BLOCKS / WINDOW), random.nextInt(BLOCKS / WINDOW));
      leases.add(List.copyOf(keys.subList(first, first + WINDOW)));
    }
  }

  private void put(List<BlockKey> keys) {
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = Objects.requireNonNull(stack.reserve(keys, scope).block());
      reservation.drafts().forEach(Blocks::produce);
      reservation.commit(reservation.drafts()).block();
    }
    keys.stream().filter(curve::samples).forEach(curve::enter);
  }

  @TearDown
  public void close() {
    stack.close().block();
  }

  @Benchmark
  @OperationsPerInvocation(WINDOW)
  public Lease lease() {
    try (BlockScope scope = new BlockScope()) {
      return Objects.requireNonNull(stack.lease(keys(), OnMiss.SKIP, scope).block());
    }
  }

  @Benchmark
  @OperationsPerInvocation(WINDOW)
  public void curve() {
    List<BlockKey> keys = keys();
    for (int i = 0; i < WINDOW; i++) {
      if (curve.samples(keys.get(i))) {
        curve.reference(keys.get(i));
      }
    }
    curve.count(WINDOW);
  }

  @Benchmark
  @OperationsPerInvocation(WINDOW)
  public long baseline_touch() {
    List<BlockKey> keys = keys();
    long bits = 0;
    for (int i = 0; i < WINDOW; i++) {
      bits ^= keys.get(i).hash().low() ^ keys.get(i).hash().high();
    }
    return bits;
  }

  private List<BlockKey> keys() {
    return leases.get(next++ & (LEASES - 1));
  }
}
