package io.penstock.lab.bench.side;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.penstock.block.SlabArena.ChunkSource;
import org.jspecify.annotations.Nullable;

/// Memory that plain and raw bytes are sent from. It is made when it is first asked for, since a bench of blocks alone
/// needs none. Safe from any thread.
final class SentMemory implements AutoCloseable {
  private final ChunkSource memory = ChunkSource.ofSystem();
  private final long capacity;
  private final byte value;
  private @Nullable ByteBuf bytes;

  /// @param value of each byte
  SentMemory(long capacity, int value) {
    this.capacity = capacity;
    this.value = (byte) value;
  }

  long capacity() {
    return capacity;
  }

  /// All of it; the caller retains what it sends.
  synchronized ByteBuf bytes() {
    if (bytes == null) {
      bytes = Unpooled.wrappedBuffer(memory.chunk(capacity).fill(value).asByteBuffer());
    }
    return bytes;
  }

  @Override
  public synchronized void close() {
    if (bytes != null) {
      bytes.release();
    }
    memory.close();
  }
}
