package io.penstock.pool.share;

import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ArenaClosedException;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SlabArena.MemoryExhaustedException;
import io.penstock.pool.share.RegionAllocator.Region;
import io.penstock.system.SharedRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Memory that a [RegionAllocator] divides, in chunks of at most 1 GiB. A chunk is taken from its source when it is
/// first needed, and kept until the end. Not thread-safe.
final class MemoryRegions {
  private final String name;
  private final ChunkSource source;
  private final long chunkBytes;
  private final RegionAllocator regions;
  private final @Nullable MemorySegment[] chunks;
  private boolean closed;
  private boolean freed;

  MemoryRegions(String name, long totalBytes, ChunkSource source) {
    this.name = name;
    this.source = source;
    this.chunkBytes = Math.min(RegionAllocator.aligned(totalBytes), SlabArena.MAX_CHUNK_BYTES);
    this.regions = new RegionAllocator(totalBytes, chunkBytes);
    this.chunks = new MemorySegment[(int) Math.ceilDiv(totalBytes, chunkBytes)];
  }

  /// @throws ArenaClosedException if this memory was closed
  @Nullable Region allocate(long bytes) {
    if (closed) {
      throw new ArenaClosedException(name);
    }
    return regions.allocate(bytes);
  }

  /// The bytes of `region`.
  ///
  /// @throws MemoryExhaustedException if the system has no more memory
  MemorySegment memory(Region region) {
    int index = (int) (region.offset() / chunkBytes);
    MemorySegment chunk = chunks[index];
    if (chunk == null) {
      chunk = allocateChunk(Math.min(chunkBytes, regions.totalBytes() - index * chunkBytes));
      chunks[index] = chunk;
    }
    MemorySegment memory = chunk.asSlice(region.offset() % chunkBytes, region.bytes());
    SharedRegion shared = SharedRegion.at(memory.address());
    if (shared != null) {
      shared.enlarge(memory);
    }
    return memory;
  }

  private MemorySegment allocateChunk(long bytes) {
    try {
      return source.chunk(bytes);
    } catch (OutOfMemoryError e) {
      throw new MemoryExhaustedException(name, bytes, e);
    }
  }

  void free(Region region) {
    regions.free(region);
    freeMemoryIfIdle();
  }

  /// Bytes of the free region that `region` would be part of.
  long bytesAround(Region region) {
    return regions.around(region).bytes();
  }

  long totalBytes() {
    return regions.totalBytes();
  }

  long freeBytes() {
    return regions.freeBytes();
  }

  long largestFreeBytes() {
    return regions.largestFree();
  }

  void close() {
    closed = true;
    freeMemoryIfIdle();
  }

  private void freeMemoryIfIdle() {
    if (closed && !freed && regions.freeBytes() == regions.totalBytes()) {
      freed = true;
      source.close();
    }
  }
}
