package io.penstock.resp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Buffers for what a socket has: the memory where the bytes of a value are to lie, while they alone come next; else
/// buffers as long as reads fill them. One for each connection.
final class ValueReads extends DefaultMaxMessagesRecvByteBufAllocator {
  private static final int LEAST = 4 << 10;
  private static final int FIRST = 16 << 10;
  private static final int MOST = 256 << 10;
  /// Shorter room is not worth a read of its own.
  private static final int LEAST_ROOM = 4 << 10;

  private final Supplier<@Nullable ByteBuffer> room;

  /// @param room asked before each read: null for none
  ValueReads(Supplier<@Nullable ByteBuffer> room) {
    this.room = room;
  }

  @Override
  @SuppressWarnings("deprecation") // Netty has no other way to say it
  public Handle newHandle() {
    return new MaxMessageHandle() {
      private int next = FIRST;
      private boolean isRoom;

      @Override
      public ByteBuf allocate(ByteBufAllocator allocator) {
        ByteBuffer wanted = room.get();
        isRoom = wanted != null && wanted.remaining() >= LEAST_ROOM;
        return wanted == null || !isRoom ? super.allocate(allocator) : new RoomBuf(allocator, wanted);
      }

      @Override
      public int guess() {
        return next;
      }

      @Override
      public void lastBytesRead(int bytes) {
        if (!isRoom && bytes == next) {
          next = Math.min(MOST, 2 * next);
        } else if (!isRoom && bytes < next / 4) {
          next = Math.max(LEAST, next / 2);
        }
        super.lastBytesRead(bytes);
      }
    };
  }

  /// Memory of a value as a buffer to read into. Its release frees nothing: the value owns it.
  private static final class RoomBuf extends UnpooledDirectByteBuf {
    RoomBuf(ByteBufAllocator allocator, ByteBuffer room) {
      super(allocator, room, room.remaining());
      clear();
    }
  }
}
