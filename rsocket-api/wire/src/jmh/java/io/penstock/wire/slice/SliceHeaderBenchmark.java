package io.penstock.wire.slice;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.penstock.block.Block;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SpaceId;
import io.penstock.testkit.Blocks;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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

/// Cost of the header of a slice of one layer (8 KiB) of so many blocks, and of reading it with all its checks. The
/// baseline is to copy as many bytes as the header has from one pooled buffer into another. `mvn -Pjmh -pl
/// rsocket-api/wire -am verify -Djmh.include=SliceHeader`
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SliceHeaderBenchmark {
  private static final BlockLayout LAYOUT = BlockLayout.attention(8, 16, 2, 64, ElementType.BF16);
  private static final PooledByteBufAllocator POOL = PooledByteBufAllocator.DEFAULT;

  @Param({"1", "16", "64"})
  public int blocks;

  private final CacheSpace space = CacheSpace.of("benchmark", LAYOUT);
  private final SpaceId id = space.id();
  private SlabArena arena;
  private LayerSlice slice;
  private ByteBuf received;
  private int headerBytes;

  @Setup
  public void setup() {
    arena = new SlabArena("benchmark", LAYOUT, blocks, 1);
    GranuleRange layer = GranuleRange.layers(LAYOUT, 3, 4);
    List<Block> all = Blocks.keys(space, 0, blocks).stream().map(key -> Blocks.block(arena, key)).toList();
    slice = new LayerSlice(new LayerSlice.Position(0, 4), layer, IntStream.range(0, blocks).toArray(),
        all.stream().map(block -> block.span(layer)).toList());
    all.forEach(Block::close);
    ByteBuf header = SliceHeader.encode(slice, id, LAYOUT, POOL);
    headerBytes = header.readableBytes();
    received = POOL.directBuffer(headerBytes + slice.bytes()).writeBytes(header).writeZero(slice.bytes());
    header.release();
  }

  @TearDown
  public void tearDown() {
    received.release();
    slice.close();
    arena.close();
  }

  @Benchmark
  public boolean encode() {
    return SliceHeader.encode(slice, id, LAYOUT, POOL).release();
  }

  @Benchmark
  public Object decode() {
    return SliceHeader.decode(received, id, LAYOUT, slice.bytes(), blocks);
  }

  @Benchmark
  public boolean baselineCopy() {
    return POOL.directBuffer(headerBytes, headerBytes).writeBytes(received, received.readerIndex(), headerBytes)
        .release();
  }
}
