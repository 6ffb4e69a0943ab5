package io.penstock.s3.serve;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.penstock.flow.ValuePart;
import io.penstock.node.door.PartBuf;
import io.penstock.s3.object.Reply;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/// Writes one response. In the event loop of the connection.
final class ReplyWriter {
  private final ChannelHandlerContext context;
  private final boolean isHead;
  private final boolean keepsAlive;
  private final Consumer<HttpHeaders> common;
  private @Nullable Sending sending;

  /// @param isHead whether the request was a HEAD, whose response has no body
  /// @param common adds headers that every response has
  ReplyWriter(ChannelHandlerContext context, boolean isHead, boolean keepsAlive, Consumer<HttpHeaders> common) {
    this.context = context;
    this.isHead = isHead;
    this.keepsAlive = keepsAlive;
    this.common = common;
  }

  /// @param ended gets null when the response was written, or the reason why it ends too early or cannot begin
  void write(Reply reply, Consumer<@Nullable Throwable> ended) {
    Reply.Content content = reply.content();
    if (content == null) {
      writeWhole(reply);
      ended.accept(null);
    } else if (content.bytes() == 0) {
      content.scope().close();
      writeWhole(reply);
      ended.accept(null);
    } else {
      Sending one = new Sending(reply, content, ended);
      sending = one;
      content.parts().subscribe(one);
    }
  }

  private void writeWhole(Reply reply) {
    byte[] document = reply.document();
    FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
        HttpResponseStatus.valueOf(reply.status()), isHead ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(document));
    fill(response, reply);
    HttpHeaders headers = response.headers();
    if (document.length > 0) {
      headers.set(HttpHeaderNames.CONTENT_TYPE, "application/xml");
    }
    if (!headers.contains(HttpHeaderNames.CONTENT_LENGTH) && reply.status() != HttpResponseStatus.NOT_MODIFIED.code()) {
      headers.set(HttpHeaderNames.CONTENT_LENGTH, isHead && document.length > 0 ? 0 : document.length);
    }
    var _ = context.writeAndFlush(response);
  }

  private void fill(HttpResponse response, Reply reply) {
    common.accept(response.headers());
    reply.headers().forEach((name, value) -> response.headers().set(name, value));
    if (!keepsAlive) {
      response.headers().set(HttpHeaderNames.CONNECTION, "close");
    }
  }

  /// Whether bytes of an object were written.
  boolean hasBegun() {
    Sending one = sending;
    return one != null && one.begun;
  }

  /// The socket takes more, or less.
  void writabilityChanged() {
    Sending one = sending;
    if (one != null) {
      one.more();
    }
  }

  /// The connection has ended.
  void cancel() {
    Sending one = sending;
    if (one != null) {
      one.stop();
    }
  }

  /// Sends the parts of an object, one at a time, as the socket takes them.
  private final class Sending extends BaseSubscriber<ValuePart> {
    private final Reply reply;
    private final Reply.Content content;
    private final Consumer<@Nullable Throwable> ended;
    private long left;
    private boolean begun;
    private boolean asked;
    private boolean over;
    /// Parts that the socket has not taken: while there is one, the scope that owns them stays open.
    private int written;

    Sending(Reply reply, Reply.Content content, Consumer<@Nullable Throwable> ended) {
      this.reply = reply;
      this.content = content;
      this.ended = ended;
      this.left = content.bytes();
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      more();
    }

    void more() {
      if (!over && !asked && context.channel().isWritable()) {
        asked = true;
        request(1);
      }
    }

    @Override
    protected void hookOnNext(ValuePart part) {
      inLoop(() -> send(part));
    }

    private void send(ValuePart part) {
      asked = false;
      if (over) {
        part.close();
        return;
      }
      if (!begun) {
        begun = true;
        HttpResponse response =
            new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(reply.status()));
        fill(response, reply);
        response.headers().set(HttpHeaderNames.CONTENT_LENGTH, content.bytes());
        var _ = context.write(response);
      }
      left -= part.bytes();
      written++;
      context.writeAndFlush(new DefaultHttpContent(new PartBuf(context.alloc(), part))).addListener(taken -> {
        written--;
        closeIfOver();
      });
      if (left <= 0) {
        var _ = context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
        end(null);
      } else {
        more();
      }
    }

    @Override
    protected void hookOnComplete() {
      inLoop(() -> end(new IllegalStateException("parts must have the bytes of the object (had fewer)")));
    }

    @Override
    protected void hookOnError(Throwable failure) {
      inLoop(() -> end(failure));
    }

    private void inLoop(Runnable step) {
      if (context.executor().inEventLoop()) {
        step.run();
      } else {
        context.executor().execute(step);
      }
    }

    void stop() {
      if (!over) {
        over = true;
        cancel();
        closeIfOver();
      }
    }

    private void closeIfOver() {
      if (over && written == 0) {
        content.scope().close();
      }
    }

    private void end(@Nullable Throwable failure) {
      if (!over) {
        stop();
        ended.accept(failure);
      }
    }
  }
}
