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
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
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

/// A hit by the level that has the bytes, in windows of 16 blocks of 64 KiB, a block an operation, beside a tier of
/// host memory alone and a plain copy of the same bytes. The stores are in memory, so this is what the index and the
/// copies cost, not a device or a disk.
///
/// Whatever the level, the bytes handed out are in host memory and were compared with their checksums once on the way.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class TierStackBenchmark {
  private static final int WINDOW = 16;
  private static final int BLOCKS = 256;

  /// Where the bytes are: in host memory over a disk, on a device, on a disk; or in a tier of host memory alone.
  @Param({"host", "device", "disk", "hostTier"})
  String level;

  private final CacheSpace space = CacheSpace.of("bench", BlockLayout.attention(8, 16, 8, 16, ElementType.BF16));
  private final List<List<BlockKey>> windows = new ArrayList<>();
  private BlockTier tier;
  private Arena arena;
  private MemorySegment source;
  private MemorySegment target;
  private int next;

  @Setup
  public void fill() {
    arena = Arena.ofShared();
    source = arena.allocate(space.layout().blockBytes(), 64).fill((byte) 0x5A);
    target = arena.allocate((long) BLOCKS * space.layout().blockBytes(), 64);
    tier = open();
    for (int first = 0; first < BLOCKS; first += WINDOW) {
      List<BlockKey> window = new ArrayList<>();
      for (int i = first; i < first + WINDOW; i++) {
        window.add(space.key(PrefixHasher.ofTraceId(i)));
      }
      windows.add(List.copyOf(window));
      put(windows.getLast());
    }
  }

  private BlockTier open() {
    StackOptions options = StackOptions.defaults("stack");
    return switch (level) {
      case "host" ->
        new TierStack(space, List.of(new StackLevel.Host("dram", BLOCKS), store("ssd", Medium.DISK)), options,
            TierListener.noop());
      case "device" -> new TierStack(space, List.of(store("hbm", Medium.DEVICE)), options, TierListener.noop());
      case "disk" -> new TierStack(space, List.of(store("ssd", Medium.DISK)), options, TierListener.noop());
      default -> new HostTier(space, BLOCKS, TierListener.noop());
    };
  }

  private StackLevel store(String name, Medium medium) {
    return new StackLevel.Stored(
        new MemoryStore(name, medium, space, medium == Medium.DISK ? Long.MAX_VALUE : BLOCKS, Runnable::run), BLOCKS);
  }

  @TearDown
  public void close() {
    tier.close().block();
    arena.close();
  }

  /// Every window hits, on one level.
  @Benchmark
  @OperationsPerInvocation(WINDOW)
  public Long hit() {
    try (BlockScope scope = new BlockScope()) {
      return Objects.requireNonNull(tier.get(windows.get(next()), scope).doOnNext(Block::close).count().block());
    }
  }

  @Benchmark
  @OperationsPerInvocation(WINDOW)
  public void baseline_copy() {
    long bytes = source.byteSize();
    long start = next() * (long) WINDOW * bytes;
    for (int i = 0; i < WINDOW; i++) {
      MemorySegment.copy(source, 0, target, start + i * bytes, bytes);
    }
  }

  private int next() {
    return Math.floorMod(next++, BLOCKS / WINDOW);
  }

  private void put(List<BlockKey> keys) {
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
