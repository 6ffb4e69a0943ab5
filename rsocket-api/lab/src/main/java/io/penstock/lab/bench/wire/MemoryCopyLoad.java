package io.penstock.lab.bench.wire;

import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.lab.bench.side.Load;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/// Copies memory piece by piece, so that no cache holds the source, as with blocks. Its units are copies.
final class MemoryCopyLoad implements Load {
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final ChunkSource memory = ChunkSource.ofSystem();
  private final MemorySegment from;
  private final MemorySegment to;
  private final long pieceBytes;

  /// @param bytes of all pieces
  MemoryCopyLoad(long bytes, long pieceBytes) {
    this.pieceBytes = pieceBytes;
    this.from = memory.chunk(bytes).fill((byte) 3);
    this.to = memory.chunk(bytes).fill((byte) 4);
  }

  @Override
  public Done run(long nanos) {
    Histogram latencies = new Histogram(MOST_NANOS, 3);
    long first = System.nanoTime();
    long began = first;
    long done = 0;
    long at = 0;
    while (began - first < nanos) {
      to.asSlice(at, pieceBytes).copyFrom(from.asSlice(at, pieceBytes));
      long end = System.nanoTime();
      latencies.recordValue(Math.min(end - began, MOST_NANOS));
      began = end;
      at = at + 2 * pieceBytes > from.byteSize() ? 0 : at + pieceBytes;
      done++;
    }
    return new Done(done, began - first, latencies);
  }

  @Override
  public void close() {
    memory.close();
  }
}
