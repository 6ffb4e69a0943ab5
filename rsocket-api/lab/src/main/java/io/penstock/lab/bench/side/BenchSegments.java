package io.penstock.lab.bench.side;

import io.penstock.wire.transfer.SegmentRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/// The segments of the far side of `bench transfer`: one to read, whose bytes both sides know, and one to write.
final class BenchSegments implements AutoCloseable {
  static final String READ = "read";
  static final String WRITE = "write";

  private final BenchMemory read;
  private final BenchMemory write;
  private final SegmentRegistry registry = new SegmentRegistry(1);

  /// @param bytes of each segment
  BenchSegments(MemoryKind kind, long bytes, BenchTransport transport) {
    read = BenchMemory.of(kind, bytes, transport.chunks());
    write = BenchMemory.of(kind, bytes, transport.chunks());
    try (Arena arena = Arena.ofShared()) {
      MemorySegment known = arena.allocate(bytes, 64);
      fill(known);
      BenchWait.end(read.put(0, known));
    }
    read.register(registry, READ);
    write.register(registry, WRITE);
  }

  SegmentRegistry registry() {
    return registry;
  }

  /// Fills the segment that is read.
  static void fill(MemorySegment memory) {
    SplittableRandom random = new SplittableRandom(memory.byteSize());
    for (long at = 0; at + Long.BYTES <= memory.byteSize(); at += Long.BYTES) {
      memory.set(ValueLayout.JAVA_LONG, at, random.nextLong());
    }
  }

  @Override
  public void close() {
    read.close();
    write.close();
  }
}
