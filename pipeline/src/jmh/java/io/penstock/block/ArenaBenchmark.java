package io.penstock.block;

import io.penstock.block.Plane.ElementType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// Claim and free of a 64 KiB slot, beside memory from the system.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ArenaBenchmark {
  private static final BlockLayout LAYOUT = BlockLayout.attention(8, 16, 8, 16, ElementType.BF16);

  private final List<BlockKey> one = List.of(key(0));
  private final List<BlockKey> window = List.of(key(1), key(2), key(3), key(4), key(5), key(6), key(7), key(8));
  private SlabArena arena;
  private Block block;

  @Setup
  public void open() {
    arena = new SlabArena("bench", LAYOUT, 64, 16);
    arena.prepare(64);
    BlockDraft draft = Objects.requireNonNull(arena.tryClaim(one)).getFirst();
    draft.produced(GranuleRange.all(LAYOUT));
    block = draft.seal();
  }

  @TearDown
  public void close() {
    block.close();
    arena.close();
  }

  @Benchmark
  public void claimAndFree() {
    Objects.requireNonNull(arena.tryClaim(one)).getFirst().close();
  }

  @Benchmark
  public void claimAndFree_windowOf8() {
    Objects.requireNonNull(arena.tryClaim(window)).forEach(BlockDraft::close);
  }

  @Benchmark
  public void shareAndClose() {
    block.share().close();
  }

  /// Memory of the system, zeroed by the JDK, as a shared arena gives it to one owner.
  @Benchmark
  public MemorySegment baseline_allocateConfined() {
    try (Arena own = Arena.ofConfined()) {
      return own.allocate(LAYOUT.blockBytes(), 64);
    }
  }

  private static BlockKey key(long number) {
    return new BlockKey(new SpaceId(0, 1), new BlockHash(0, number));
  }
}
