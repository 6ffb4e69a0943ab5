package io.penstock.lab.bench.side;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.WriteBufferWaterMark;
import io.penstock.block.SlabArena.ChunkSource;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import reactor.netty.Connection;

/// Bytes one way over a plain Netty channel: the baseline for RSocket, checksums and landing.
///
/// A connection begins with one integer of its client: the bytes of a payload that the server sends without end, or,
/// negated, those of a payload that the client sends. Payloads come from a piece of memory that no cache holds; the
/// receiver counts bytes and drops them.
final class RawStream {
  private static final int LEAST_RECEIVE = 1 << 16;
  private static final int MOST_RECEIVE = 1 << 20;
  private static final int CHANNEL_BYTES = 1 << 20;

  private RawStream() {}

  /// Memory that plain and raw bytes are sent from. It is made when it is first asked for, since a bench of blocks
  /// alone needs none. Safe from any thread.
  static final class Memory implements AutoCloseable {
    private final ChunkSource memory = ChunkSource.ofSystem();
    private final long capacity;
    private final byte value;
    private @Nullable ByteBuf bytes;

    /// @param value of each byte
    Memory(long capacity, int value) {
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

  /// Serves a connection.
  static void serve(Connection connection, ByteBuf memory) {
    Channel channel = prepared(connection);
    connection.addHandlerLast(new Quiet() {
      private boolean begun;

      @Override
      public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf in = (ByteBuf) message;
        int payload = begun ? 0 : in.readInt();
        begun = true;
        in.release();
        if (payload > 0) {
          pump(channel, memory, payload);
        }
      }
    });
    channel.config().setAutoRead(true);
  }

  /// Makes the peer send payloads of `payloadBytes` until the connection is closed.
  static void receive(Connection connection, int payloadBytes, LongAdder received) {
    Channel channel = prepared(connection);
    connection.addHandlerLast(new Quiet() {
      @Override
      public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf in = (ByteBuf) message;
        received.add(in.readableBytes());
        in.release();
      }
    });
    channel.config().setAutoRead(true);
    begin(channel, payloadBytes);
  }

  /// Sends payloads of `payloadBytes` until the connection is closed.
  static void send(Connection connection, ByteBuf memory, int payloadBytes, LongAdder sent) {
    Channel channel = prepared(connection);
    begin(channel, -payloadBytes);
    channel.eventLoop().execute(() -> new Pump(channel, memory, payloadBytes, sent).start());
  }

  private static void begin(Channel channel, int payloadBytes) {
    ChannelFuture unused =
        channel.writeAndFlush(Unpooled.directBuffer(Integer.BYTES).writeInt(payloadBytes), channel.voidPromise());
  }

  private static void pump(Channel channel, ByteBuf memory, int payloadBytes) {
    new Pump(channel, memory, payloadBytes, new LongAdder()).start();
  }

  private static Channel prepared(Connection connection) {
    Channel channel = connection.channel();
    channel.config().setRecvByteBufAllocator(
        new AdaptiveRecvByteBufAllocator(LEAST_RECEIVE, LEAST_RECEIVE << 2, MOST_RECEIVE));
    channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(CHANNEL_BYTES / 2, CHANNEL_BYTES));
    return channel;
  }

  /// The near side ends a stream by closing it at any moment.
  private abstract static class Quiet extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable closed) {
      ChannelFuture unused = context.close();
    }
  }

  /// Writes while the channel is writable.
  private static final class Pump extends Quiet {
    private static final int FLUSH_BYTES = 256 << 10;

    private final Channel channel;
    private final ByteBuf memory;
    private final int payloadBytes;
    private final LongAdder sent;
    private int at;

    Pump(Channel channel, ByteBuf memory, int payloadBytes, LongAdder sent) {
      this.channel = channel;
      this.memory = memory;
      this.payloadBytes = payloadBytes;
      this.sent = sent;
    }

    void start() {
      channel.pipeline().addFirst(this);
      write();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      write();
    }

    private void write() {
      while (channel.isWritable() && channel.isActive()) {
        for (int burst = 0; burst < FLUSH_BYTES && channel.isWritable(); burst += payloadBytes) {
          ChannelFuture unused = channel.write(memory.retainedSlice(at, payloadBytes), channel.voidPromise());
          sent.add(payloadBytes);
          at = at + 2L * payloadBytes > memory.capacity() ? 0 : at + payloadBytes;
        }
        channel.flush();
      }
    }
  }
}
