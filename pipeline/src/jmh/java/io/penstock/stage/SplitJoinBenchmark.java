package io.penstock.stage;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Checksum;
import io.penstock.block.ElementType;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.testkit.Blocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
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
import reactor.core.publisher.Flux;

/// Cost of a window of 16 blocks of 64 KiB over 8 layers, 1 MiB in all: cut into slices, and cut, copied, verified and
/// joined. Each round takes the next of the source's windows, which are 256 MiB, so the bytes come from memory and not
/// from a cache. The baseline, and the ceiling of a join, is a copy of the same bytes; `copyAndChecksum` adds the one
/// pass of CRC32C that a join must make. `mvn -Pjmh -pl pipeline -am verify -Djmh.include=SplitJoin`
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SplitJoinBenchmark {
  private static final int WINDOW = 16;
  private static final int WINDOWS = 256;
  private static final BlockLayout LAYOUT = BlockLayout.attention(8, 16, 2, 64, ElementType.BF16);
  private static final int WINDOW_BYTES = WINDOW * LAYOUT.blockBytes();

  @Param({"65536", "262144", "1048576"})
  public int sliceBytes;

  private SlabArena source;
  private SlabArena target;
  private Arena plain;
  private MemorySegment from;
  private MemorySegment to;
  private List<BlockKey> keys;
  private Block[] blocks;
  private int next;

  @Setup
  public void setup() {
    CacheSpace space = CacheSpace.of("benchmark", LAYOUT);
    keys = Blocks.keys(space, 0, WINDOW);
    source = new SlabArena("source", LAYOUT, WINDOW * WINDOWS, 1);
    target = new SlabArena("target", LAYOUT, WINDOW, 1);
    blocks = new Block[WINDOW * WINDOWS];
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = filled(keys.get(i % WINDOW), i);
    }
    plain = Arena.ofShared();
    from = plain.allocate((long) WINDOW_BYTES * WINDOWS, 64).fill((byte) 1);
    to = plain.allocate(WINDOW_BYTES, 64).fill((byte) 2);
  }

  private Block filled(BlockKey key, int number) {
    BlockDraft draft = Blocks.draft(source, key);
    draft.write(GranuleRange.all(LAYOUT), memory -> memory.fill((byte) number));
    draft.produced(GranuleRange.all(LAYOUT));
    return draft.seal();
  }

  @TearDown
  public void tearDown() {
    for (Block block : blocks) {
      block.close();
    }
    source.close();
    target.close();
    plain.close();
  }

  private int window() {
    next = (next + 1) % WINDOWS;
    return next;
  }

  private Flux<LayerSlice> slices(BlockScope scope) {
    int first = window() * WINDOW;
    SliceShape options = SliceShape.defaults().withSliceBytes(sliceBytes);
    return Flux.range(first, WINDOW).map(i -> scope.adopt(blocks[i].share()))
        .transform(SplitLayers.blocks(options, scope));
  }

  @Benchmark
  public Object split() {
    try (BlockScope scope = new BlockScope()) {
      return slices(scope).doOnNext(LayerSlice::close).blockLast();
    }
  }

  @Benchmark
  public Object splitAndJoin() {
    try (BlockScope scope = new BlockScope()) {
      return slices(scope).transform(JoinLayers.claiming(target, keys, WINDOW, scope)).doOnNext(Block::close)
          .blockLast();
    }
  }

  /// The baseline.
  @Benchmark
  public Object copy() {
    return to.copyFrom(from.asSlice((long) window() * WINDOW_BYTES, WINDOW_BYTES));
  }

  @Benchmark
  public int copyAndChecksum() {
    to.copyFrom(from.asSlice((long) window() * WINDOW_BYTES, WINDOW_BYTES));
    return Checksum.of(to);
  }
}
