package io.penstock.wire.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.Refusal;
import io.penstock.wire.transport.TransportFailure.FrameLengthException;
import io.penstock.wire.transport.TransportFailure.RefusedPeerException;
import io.penstock.wire.transport.frame.SendQueue;
import org.jspecify.annotations.Nullable;

/// Turns the bytes of a WebSocket (RFC 6455) into frames with a length of 24 bits: one binary message is one frame.
///
/// The bytes of a message stay where they were received, and are unmasked there. So a message has the memory of its
/// frame, in the same `FrameRoom`, whether it came by TCP or by WebSocket. A message in several parts tells its length
/// only at its end; it is put together here, and may have [#MOST_IN_PARTS] bytes. Answers pings, as long as the socket
/// takes the answers. Runs on the event loop.
final class WebSocketFrames extends ChannelInboundHandlerAdapter {
  /// Maximum bytes of a message in several parts.
  static final int MOST_IN_PARTS = 64 << 10;

  private static final int CONTINUATION = 0;
  private static final int BINARY = 2;
  private static final int CLOSE = 8;
  private static final int PING = 9;
  private static final int PONG = 10;
  private static final int FIN = 0x80;
  private static final int RESERVED = 0x70;
  private static final int OPCODE = 0x0F;
  private static final int MASKED = 0x80;
  private static final int LENGTH = 0x7F;
  private static final int LENGTH_16 = 126;
  private static final int LENGTH_64 = 127;
  private static final int MOST_CONTROL = 125;
  private static final int LONGEST_HEADER = 14;

  private final TcpConnection connection;
  private final boolean fromClient;

  private final byte[] header = new byte[LONGEST_HEADER];
  private int headerBytes;
  /// Opcode of the part that is being read.
  private int opcode;
  private boolean isLast;
  private int length;
  private int mask;
  private int left;
  private boolean inPart;
  /// Arrived bytes of a message in several parts, or of a control frame.
  private @Nullable ByteBuf parts;
  private @Nullable ByteBuf control;
  /// The peer has said that it closes.
  private boolean closing;

  /// @param fromClient whether a client sends: its bytes are masked, those of a server are not
  WebSocketFrames(TcpConnection connection, boolean fromClient) {
    this.connection = connection;
    this.fromClient = fromClient;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    if (closing) { // nothing may follow, and no answer to it may pile up
      in.release();
      return;
    }
    if (inPart && isWhole()) { // as a rule, straight into the memory of its frame
      int own = Math.min(left, in.readableBytes());
      ByteBuf behind = behind(context, in, own);
      advance(context, unmasked(in, own), own);
      if (behind != null) {
        readAll(context, behind);
      }
    } else {
      readAll(context, in);
    }
  }

  /// Takes the bytes behind the first `own` bytes out of `in`; null if there are none. They are copied: they must not
  /// keep the memory of a frame.
  private static @Nullable ByteBuf behind(ChannelHandlerContext context, ByteBuf in, int own) {
    int bytes = in.readableBytes() - own;
    if (bytes == 0) {
      return null;
    }
    int from = in.readerIndex() + own;
    ByteBuf behind = context.alloc().directBuffer(bytes).writeBytes(in, from, bytes);
    in.writerIndex(from);
    return behind;
  }

  /// Takes `in` over.
  private void readAll(ChannelHandlerContext context, ByteBuf in) {
    try {
      while (in.isReadable() && !closing && !connection.isDisposed()) {
        if (inPart) {
          int now = Math.min(left, in.readableBytes());
          unmasked(in, now);
          advance(context, in.readRetainedSlice(now), now);
        } else {
          readHeader(context, in);
        }
      }
    } catch (RefusedPeerException e) {
      connection.fail(e);
    } finally {
      in.release();
    }
  }

  /// True for a message in one part, which is passed on as it arrives.
  private boolean isWhole() {
    return opcode == BINARY && isLast;
  }

  private void readHeader(ChannelHandlerContext context, ByteBuf in) {
    header[headerBytes++] = in.readByte();
    if (headerBytes < 2 || headerBytes < headerLength()) {
      return;
    }
    headerBytes = 0;
    begin(context);
  }

  private int headerLength() {
    int code = header[1] & LENGTH;
    int extended = code == LENGTH_16 ? 2 : code == LENGTH_64 ? Long.BYTES : 0;
    return 2 + extended + ((header[1] & MASKED) == 0 ? 0 : Integer.BYTES);
  }

  private void begin(ChannelHandlerContext context) {
    isLast = (header[0] & FIN) != 0;
    opcode = header[0] & OPCODE;
    boolean isMasked = (header[1] & MASKED) != 0;
    int code = header[1] & LENGTH;
    int at = 2;
    long announced = code;
    if (code >= LENGTH_16) {
      int size = code == LENGTH_16 ? 2 : Long.BYTES;
      announced = number(at, size);
      at += size;
    }
    mask = isMasked ? (int) number(at, Integer.BYTES) : 0;
    require((header[0] & RESERVED) == 0 && isMasked == fromClient, "must be masked by the client alone, without"
        + " extensions");
    requireOpcode();
    if (announced < 0 || announced > ConnectionLimits.LONGEST_FRAME) {
      throw new FrameLengthException(announced < 0 ? Integer.MAX_VALUE : Math.clamp(announced, 0, Integer.MAX_VALUE),
          ConnectionLimits.LONGEST_FRAME);
    }
    length = (int) announced;
    left = length;
    inPart = true;
    if (opcode >= CLOSE) {
      require(length <= MOST_CONTROL && isLast, "must have control messages of <= " + MOST_CONTROL + " bytes in one"
          + " part");
      control = context.alloc().directBuffer(MOST_CONTROL);
    } else if (isWhole()) {
      context.fireChannelRead(lengthOf(context, length));
    } else {
      int before = parts == null ? 0 : parts.readableBytes();
      require(before + length <= MOST_IN_PARTS, "must have <= " + MOST_IN_PARTS + " bytes in a message of several"
          + " parts");
    }
    if (length == 0) {
      endOfPart(context);
    }
  }

  private void requireOpcode() {
    boolean known = opcode == CONTINUATION
        ? parts != null
        : opcode == BINARY ? parts == null : opcode >= CLOSE && opcode <= PONG;
    require(known, "must be binary, each whole before the next");
  }

  private static void require(boolean rule, String words) {
    if (!rule) {
      throw new RefusedPeerException(Refusal.WEB_SOCKET, "messages of a WebSocket " + words + " (were others)");
    }
  }

  private long number(int at, int bytes) {
    long number = 0;
    for (int i = at; i < at + bytes; i++) {
      number = number << Byte.SIZE | (header[i] & 0xFF);
    }
    return number;
  }

  private static ByteBuf lengthOf(ChannelHandlerContext context, int length) {
    return context.alloc().directBuffer(SendQueue.HEADER_BYTES, SendQueue.HEADER_BYTES).writeMedium(length);
  }

  /// Unmasks the next `bytes` of `in` in place.
  private ByteBuf unmasked(ByteBuf in, int bytes) {
    if (mask != 0) {
      int key = Integer.rotateLeft(mask, Byte.SIZE * ((length - left) % Integer.BYTES));
      long wide = (long) key << Integer.SIZE | (key & 0xFFFF_FFFFL);
      int at = in.readerIndex();
      int end = at + bytes;
      for (; at + Long.BYTES <= end; at += Long.BYTES) {
        in.setLong(at, in.getLong(at) ^ wide);
      }
      for (int i = 0; at < end; at++, i++) {
        in.setByte(at, in.getByte(at) ^ (key >>> (Integer.SIZE - Byte.SIZE - Byte.SIZE * (i % Integer.BYTES))));
      }
    }
    return in;
  }

  /// Takes ownership of `bytes`, the next of the part.
  private void advance(ChannelHandlerContext context, ByteBuf bytes, int count) {
    left -= count;
    boolean ends = left == 0;
    if (isWhole()) {
      inPart = !ends;
      context.fireChannelRead(bytes);
      return;
    }
    try {
      kept(context).writeBytes(bytes);
    } finally {
      bytes.release();
    }
    if (ends) {
      endOfPart(context);
    }
  }

  private ByteBuf kept(ChannelHandlerContext context) {
    ByteBuf to = opcode >= CLOSE ? control : parts;
    if (to == null) {
      to = context.alloc().directBuffer(length);
      parts = to;
    }
    return to;
  }

  private void endOfPart(ChannelHandlerContext context) {
    inPart = false;
    if (opcode >= CLOSE) {
      ByteBuf said = control;
      control = null;
      if (said != null) {
        answer(context, said);
      }
    } else if (isLast && opcode == CONTINUATION) {
      ByteBuf whole = kept(context);
      parts = null;
      context.fireChannelRead(lengthOf(context, whole.readableBytes()));
      context.fireChannelRead(whole);
    } else if (!isLast) {
      kept(context); // an empty first part
    }
  }

  private void answer(ChannelHandlerContext context, ByteBuf said) {
    if (opcode == PING && context.channel().isWritable() && !connection.isDisposed()) {
      ChannelFuture unused = context
          .writeAndFlush(WebSocketFraming.control(context.alloc(), PONG, said, !fromClient), context.voidPromise());
    } else if (opcode == CLOSE && !context.channel().isWritable()) {
      closing = true;
      ChannelFuture unused = context.close();
    } else if (opcode == CLOSE) {
      closing = true;
      ByteBuf bye = WebSocketFraming.control(context.alloc(), CLOSE, said.readSlice(Math.min(2, said.readableBytes())),
          !fromClient);
      context.writeAndFlush(bye).addListener(ChannelFutureListener.CLOSE);
    }
    said.release();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (parts != null) {
      parts.release();
      parts = null;
    }
    if (control != null) {
      control.release();
      control = null;
    }
  }
}
