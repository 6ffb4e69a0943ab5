package io.penstock.lab.bench.wire;

import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.check.Checksum;
import io.penstock.lab.bench.side.Load;
import java.lang.foreign.MemorySegment;
import org.HdrHistogram.Histogram;

/// Copies memory and computes the CRC32C of the copy, in one thread, in pieces of a block; its units are bytes.
final class CopyLoad implements Load {
  private final ChunkSource memory = ChunkSource.ofSystem();
  private final MemorySegment from;
  private final MemorySegment to;
  private final int pieceBytes;
  private long check;

  CopyLoad(long bytes, int pieceBytes) {
    this.from = memory.chunk(bytes).fill((byte) 3);
    this.to = memory.chunk(bytes).fill((byte) 4);
    this.pieceBytes = pieceBytes;
  }

  @Override
  public Done run(long nanos) {
    long began = System.nanoTime();
    long done = 0;
    long at = 0;
    while (System.nanoTime() - began < nanos) {
      MemorySegment piece = to.asSlice(at, pieceBytes);
      piece.copyFrom(from.asSlice(at, pieceBytes));
      check += Checksum.of(piece);
      done += pieceBytes;
      at = at + 2L * pieceBytes > to.byteSize() ? 0 : at + pieceBytes;
    }
    return new Done(done, System.nanoTime() - began, new Histogram(1));
  }

  /// Sum of the computed values, so that the compiler keeps the computation.
  long check() {
    return check;
  }

  @Override
  public void close() {
    memory.close();
  }
}
