package io.penstock.block;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Where a [SlabArena] takes its memory from, chunk by chunk. For one caller at a time, who closes it.
public interface ChunkSource extends AutoCloseable {
  /// Memory for all threads that begins at a multiple of 64 bytes, zeroed or not, and lives until [#close()].
  ///
  /// @param bytes at most [SlabArena#MAX_CHUNK_BYTES]
  /// @throws OutOfMemoryError if there is no more; a [io.penstock.KvException] if the source knows better why
  MemorySegment chunk(long bytes);

  /// Frees all chunks, which are not used any more.
  @Override
  void close();

  /// Memory that the JDK allocates and zeroes.
  static ChunkSource ofJdk() {
    Arena arena = Arena.ofShared();
    return new ChunkSource() {
      @Override
      public MemorySegment chunk(long bytes) {
        return arena.allocate(bytes, SlabArena.ALIGNMENT_BYTES);
      }

      @Override
      public void close() {
        arena.close();
      }
    };
  }
}
