package io.penstock.resp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Buffers for what a socket has: the memory where the bytes of a value are to lie, while they alone come next; else
/// buffers as long as reads fill them. Behind a value comes a short one, since what follows is as a rule its end, or
/// the request for the next; so it does behind a value that came in a long buffer with its request, and was copied. A
/// socket is read again at once while its bytes fill what it is given, but not behind a value. While connections share
/// a loop, the others have their turn before the bytes of a value are read, and behind each [#TURN] of bytes, those of
/// a value that is let go among them: a short request does not wait for long values. One for each connection.
final class ValueReads extends DefaultMaxMessagesRecvByteBufAllocator {
  private static final int LEAST = 1 << 10;
  private static final int FIRST = 4 << 10;
  private static final int MOST = 256 << 10;
  /// Reads of one socket before others have their turn.
  private static final int READS = 16;
  /// Shorter room is not worth a read of its own.
  private static final int LEAST_ROOM = 4 << 10;
  /// To copy more of a value takes longer than another read.
  static final int MOST_COPIED = 32 << 10;

  /// Bytes of one socket before others have their turn, while there are others.
  private static final int TURN = 2 << 20;

  private final Reader reader;

  /// Memory where the next bytes of a value are to lie.
  ///
  /// @param wanted bytes of the value; behind them `memory` may have room for a few bytes more
  record Room(ByteBuffer memory, int wanted) {}

  /// What reads from the socket.
  interface Reader {
    /// Memory for what comes next, if that is of a value and nothing else; null for none.
    @Nullable Room room();

    /// Whether [#room()] would give memory.
    boolean hasRoom();

    /// Whether much of a value was copied since the last call, though a read could have brought it to where it lies.
    boolean hasCopied();

    /// Bytes have come, and are handled next; -1 if the client sends no more.
    void came(int bytes);

    /// Whether other connections have their turns on this loop.
    boolean isShared();
  }

  /// @param reader asked before and after each read
  ValueReads(Reader reader) {
    super(READS);
    this.reader = reader;
  }

  @Override
  @SuppressWarnings("deprecation") // Netty has no other way to say it
  public Handle newHandle() {
    return new MaxMessageHandle() {
      private int next = FIRST;
      private boolean isRoom;
      /// The last read may bring the end of a value.
      private boolean mayEnd;
      private boolean hasEnded;

      @Override
      public ByteBuf allocate(ByteBufAllocator allocator) {
        Room wanted = reader.room();
        isRoom = wanted != null && wanted.wanted() >= LEAST_ROOM;
        mayEnd = isRoom && wanted != null && wanted.memory.remaining() > wanted.wanted;
        if (reader.hasCopied()) {
          next = LEAST;
        }
        return wanted == null || !isRoom ? super.allocate(allocator) : new RoomBuf(allocator, wanted);
      }

      @Override
      public int guess() {
        return next;
      }

      @Override
      public void lastBytesRead(int bytes) {
        if (isRoom) {
          next = LEAST;
        } else if (bytes == next) {
          next = Math.min(MOST, 4 * next);
        } else if (bytes < next / 4) {
          next = Math.max(LEAST, next / 2);
        }
        hasEnded = mayEnd && bytes == attemptedBytesRead();
        reader.came(bytes);
        super.lastBytesRead(bytes);
      }

      /// Behind a value a client waits for its reply, as a rule: a read would find nothing.
      @Override
      public boolean continueReading(UncheckedBooleanSupplier maybeMore) {
        return !hasEnded && !isTurnOver() && super.continueReading(maybeMore);
      }

      private boolean isTurnOver() {
        return (totalBytesRead() >= TURN || (!isRoom && reader.hasRoom())) && reader.isShared();
      }
    };
  }

  /// Takes the bytes behind those of a value out of its memory, unless they are all that can be there, which what reads
  /// them does at once: it would keep others for later, when the memory is another's.
  static final class Ends extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof RoomBuf read && read.readableBytes() > read.wanted && read.isWritable()) {
        ByteBuf behind = read.copy(read.wanted, read.readableBytes() - read.wanted);
        context.fireChannelRead(read.writerIndex(read.wanted));
        context.fireChannelRead(behind);
      } else {
        context.fireChannelRead(message);
      }
    }
  }

  /// Memory of a value as a buffer to read into. Its release frees nothing: the value owns it.
  private static final class RoomBuf extends UnpooledDirectByteBuf {
    private final int wanted;

    RoomBuf(ByteBufAllocator allocator, Room room) {
      super(allocator, room.memory, room.memory.remaining());
      wanted = room.wanted;
      clear();
    }
  }
}
