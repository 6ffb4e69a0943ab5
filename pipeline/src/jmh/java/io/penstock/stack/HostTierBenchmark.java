package io.penstock.stack;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.PrefixHasher;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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

/// Put and get of windows of 16 blocks of 64 KiB, a block an operation, beside a copy of the same bytes.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class HostTierBenchmark {
  private static final int WINDOW = 16;
  private static final int BLOCKS = 512;

  @Param({"true", "false"})
  boolean verifyReads;

  private final CacheSpace space = CacheSpace.of("bench", BlockLayout.attention(8, 16, 8, 16, ElementType.BF16));
  private final List<List<BlockKey>> windows = new ArrayList<>();
  private HostTier full;
  private HostTier churned;
  private Arena arena;
  private MemorySegment source;
  private MemorySegment target;
  private int next;

  @Setup
  public void fill() {
    arena = Arena.ofShared();
    source = arena.allocate(space.layout().blockBytes(), 64).fill((byte) 0x5A);
    target = arena.allocate((long) BLOCKS * space.layout().blockBytes(), 64);
    full = new HostTier(space, BLOCKS, StackOptions.defaults("dram").withVerifyReads(verifyReads), TierListener.noop());
    churned =
        new HostTier(space, BLOCKS / 2, StackOptions.defaults("dram").withVerifyReads(verifyReads),
            TierListener.noop());
    for (int first = 0; first < BLOCKS; first += WINDOW) {
      List<BlockKey> window = new ArrayList<>();
      for (int i = first; i < first + WINDOW; i++) {
        window.add(space.key(PrefixHasher.ofTraceId(i)));
      }
      windows.add(List.copyOf(window));
      put(full, windows.getLast());
    }
  }

  @TearDown
  public void close() {
    full.close().block();
    churned.close().block();
    arena.close();
  }

  /// Every window misses: room is made, written, checked, published.
  @Benchmark
  @OperationsPerInvocation(WINDOW)
  public void put() {
    put(churned, nextWindow());
  }

  /// Every window hits.
  @Benchmark
  @OperationsPerInvocation(WINDOW)
  public Long get() {
    try (BlockScope scope = new BlockScope()) {
      return Objects.requireNonNull(full.get(nextWindow(), scope).doOnNext(Block::close).count().block());
    }
  }

  @Benchmark
  @OperationsPerInvocation(WINDOW)
  public void baseline_copy() {
    long bytes = source.byteSize();
    long start = Math.floorMod(next++, BLOCKS / WINDOW) * (long) WINDOW * bytes;
    for (int i = 0; i < WINDOW; i++) {
      MemorySegment.copy(source, 0, target, start + i * bytes, bytes);
    }
  }

  private List<BlockKey> nextWindow() {
    return windows.get(Math.floorMod(next++, windows.size()));
  }

  private void put(HostTier tier, List<BlockKey> keys) {
    GranuleRange all = GranuleRange.all(space.layout());
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = Objects.requireNonNull(tier.reserve(keys, scope).block());
      for (BlockDraft draft : reservation.drafts()) {
        draft.write(all, memory -> memory.copyFrom(source));
        draft.produced(all);
      }
      reservation.commit(reservation.drafts()).block();
    }
  }
}
