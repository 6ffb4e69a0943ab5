package io.penstock.resp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Writes replies in RESP2 or RESP3. Short ones gather in one buffer until [#flush()]. On the event loop of the
/// channel.
final class Replies {
  private static final int SHORT = 512;
  private static final int MOST_GATHERED = 64 << 10;
  private static final byte[] OK = ascii("+OK\r\n");
  private static final byte[] NIL = ascii("$-1\r\n");
  private static final byte[] NULL = ascii("_\r\n");
  private static final byte[] ZERO = ascii(":0\r\n");
  private static final byte[] ONE = ascii(":1\r\n");
  private static final byte[] END = ascii("\r\n");

  private final ChannelHandlerContext context;
  private final SharedLoop loop;
  private final Runnable flushDue = this::flushDue;
  private @Nullable ByteBuf gathered;
  /// They are to be sent when other connections of the loop had their turn.
  private boolean isDue;
  private boolean isThree;

  Replies(ChannelHandlerContext context, SharedLoop loop) {
    this.context = context;
    this.loop = loop;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /// Whether replies are of RESP3 from now on.
  void speakThree(boolean three) {
    isThree = three;
  }

  boolean isThree() {
    return isThree;
  }

  private ByteBuf out() {
    ByteBuf out = gathered;
    if (out != null && out.readableBytes() > MOST_GATHERED) {
      write();
      out = null;
    }
    if (out == null) {
      out = context.alloc().directBuffer(SHORT);
      gathered = out;
    }
    return out;
  }

  void ok() {
    out().writeBytes(OK);
  }

  void nil() {
    out().writeBytes(isThree ? NULL : NIL);
  }

  void integer(long value) {
    if (value == 0 || value == 1) {
      out().writeBytes(value == 0 ? ZERO : ONE);
    } else {
      line(':', Long.toString(value));
    }
  }

  void simple(String text) {
    line('+', text);
  }

  /// @param text without line breaks, its code first
  void error(String text) {
    line('-', text);
  }

  private void line(char type, String text) {
    ByteBuf out = out();
    out.writeByte(type);
    out.writeCharSequence(text.replace('\r', ' ').replace('\n', ' '), StandardCharsets.UTF_8);
    out.writeBytes(END);
  }

  void bulk(String text) {
    bulk(text.getBytes(StandardCharsets.UTF_8));
  }

  void bulk(byte[] bytes) {
    bulkHeader(bytes.length);
    out().writeBytes(bytes);
    bulkEnd();
  }

  /// A text for people: a verbatim string in RESP3.
  void verbatim(String text) {
    if (isThree) {
      byte[] bytes = ("txt:" + text).getBytes(StandardCharsets.UTF_8);
      line('=', Integer.toString(bytes.length));
      out().writeBytes(bytes);
      bulkEnd();
    } else {
      bulk(text);
    }
  }

  /// Begins a bulk string of `length` bytes; [#body] and [#bulkEnd] follow.
  void bulkHeader(long length) {
    line('$', Long.toString(length));
  }

  /// Hands on a piece of a bulk string, which is released when it was sent.
  void body(ByteBuf piece) {
    write();
    ChannelFuture unused = context.write(piece, context.voidPromise());
  }

  void bulkEnd() {
    out().writeBytes(END);
  }

  void array(int size) {
    line('*', Integer.toString(size));
  }

  /// A map of `pairs`; an array of twice as many in RESP2.
  void map(int pairs) {
    line(isThree ? '%' : '*', Integer.toString(isThree ? pairs : 2 * pairs));
  }

  private void write() {
    ByteBuf out = gathered;
    if (out != null) {
      gathered = null;
      ChannelFuture unused = context.write(out, context.voidPromise());
    }
  }

  void flush() {
    isDue = false;
    write();
    context.flush();
  }

  /// Sends them with those to other connections of the loop, at once if there are none.
  void flushSoon() {
    if (!isDue) {
      isDue = loop.repliesLater(flushDue);
      if (!isDue) {
        flush();
      }
    }
  }

  /// Sends those that are to be sent soon.
  void flushDue() {
    if (isDue) {
      flush();
    }
  }

  void release() {
    isDue = false;
    ByteBuf out = gathered;
    if (out != null) {
      gathered = null;
      out.release();
    }
  }
}
