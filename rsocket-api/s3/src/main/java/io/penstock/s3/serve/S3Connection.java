package io.penstock.s3.serve;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.penstock.node.door.DoorSpace;
import io.penstock.node.door.DoorUses;
import io.penstock.s3.body.BodyChecks;
import io.penstock.s3.body.BodyDecoder;
import io.penstock.s3.body.ChunkedBody;
import io.penstock.s3.body.PlainBody;
import io.penstock.s3.object.Plan;
import io.penstock.s3.object.Reply;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import io.penstock.s3.request.Bodies;
import io.penstock.s3.request.Target;
import io.penstock.s3.sign.Gate;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/// One connection: a request, its response, and the next. What the client sends is read when a reader asks for it, so a
/// body that waits for room waits in the sockets, and so do requests while the client takes no responses. All of it in
/// the event loop of the channel.
final class S3Connection extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(S3Connection.class);
  private static final String HANDLED = "x-amz-decoded-content-length";
  private static final String TRAILER = "x-amz-trailer";
  /// Most bytes of a body that are read to no purpose, so that the connection can go on.
  private static final long MOST_DROPPED = 16 << 20;

  private static final long LINGER_MILLIS = 500;

  private final S3House house;
  private @Nullable Exchange now;
  private long moved;
  /// What came and was not taken.
  private final Queue<Object> pieces = new ArrayDeque<>();
  private final HeadDecoder decoder;
  private @Nullable Future<?> head;
  private boolean wants;
  private boolean isTaking;
  private boolean isLingering;
  private @Nullable Future<?> watch;

  /// @param decoder of the same channel
  S3Connection(S3House house, HeadDecoder decoder) {
    this.house = house;
    this.decoder = decoder;
  }

  @Override
  public void channelActive(ChannelHandlerContext active) {
    more(active);
  }

  /// Takes one more piece of what the client sends. Many may have come at once: they are taken in a loop, not one
  /// inside the other.
  private void more(ChannelHandlerContext channel) {
    wants = true;
    if (!isTaking) {
      take(channel);
    }
  }

  private void take(ChannelHandlerContext channel) {
    isTaking = true;
    try {
      while (wants && !pieces.isEmpty() && !waitsForClient(channel)) {
        wants = false;
        moved++;
        piece(channel, pieces.remove());
      }
    } finally {
      isTaking = false;
    }
    if (wants && pieces.isEmpty()) {
      channel.read();
    }
    watchHead(channel);
  }

  /// Whether the next request has to wait until the client has taken more of the responses before it.
  private boolean waitsForClient(ChannelHandlerContext channel) {
    return pieces.peek() instanceof HttpRequest && !channel.channel().isWritable();
  }

  /// Cuts off a client that began a head, is waited for, and does not end it.
  private void watchHead(ChannelHandlerContext channel) {
    boolean isWaiting = now == null && pieces.isEmpty() && decoder.hasHalf() && !isLingering;
    Future<?> running = head;
    if (isWaiting && running == null) {
      head = channel.executor().schedule(() -> {
        var _ = channel.close();
      }, house.limits.headNanos(), TimeUnit.NANOSECONDS);
    } else if (!isWaiting && running != null) {
      running.cancel(false);
      head = null;
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext complete) {
    watchHead(complete);
  }

  @Override
  public void channelRead(ChannelHandlerContext reading, Object message) {
    if (isLingering) {
      ReferenceCountUtil.release(message);
      return;
    }
    pieces.add(message);
    if (!isTaking) {
      take(reading);
    }
  }

  private void piece(ChannelHandlerContext channel, Object message) {
    if (message instanceof HttpRequest request) {
      Exchange one = new Exchange(channel, request);
      now = one;
      one.begin(request);
    } else if (message instanceof HttpContent content) {
      Exchange one = now;
      if (one == null) {
        content.release();
        more(channel);
      } else {
        one.came(content);
      }
    } else {
      ReferenceCountUtil.release(message);
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext changed) {
    moved++;
    Exchange one = now;
    if (one != null && one.writer != null) {
      one.writer.writabilityChanged();
    }
    if (!isTaking) {
      take(changed);
    }
    changed.fireChannelWritabilityChanged();
  }

  @Override
  public void channelInactive(ChannelHandlerContext inactive) {
    Exchange one = now;
    if (one != null) {
      one.lost();
    }
    while (!pieces.isEmpty()) {
      ReferenceCountUtil.release(pieces.remove());
    }
    isLingering = true; // what the decoder still has is released
    watchHead(inactive);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext caught, Throwable failure) {
    if (!(failure instanceof IOException)) {
      LOG.debug("a connection of the door s3 ends", failure);
    }
    var _ = caught.close();
  }

  /// Ends the connection. A client that is still sending may read the response before the connection is reset.
  private void linger(ChannelHandlerContext channel) {
    isLingering = true;
    channel.writeAndFlush(channel.alloc().buffer(0, 0)).addListener(written -> {
      if (channel.channel() instanceof DuplexChannel both && channel.pipeline().get(SslHandler.class) == null) {
        var _ = both.shutdownOutput();
        channel.channel().config().setAutoRead(true);
        var _ = channel.executor().schedule(() -> {
          var _ = channel.close();
        }, LINGER_MILLIS, TimeUnit.MILLISECONDS);
      } else {
        var _ = channel.close();
      }
    });
  }

  /// One request and its response.
  private final class Exchange {
    private final ChannelHandlerContext channel;
    private final String id = house.nextRequest();
    private final boolean isHead;
    private boolean keepsAlive;
    private String resource = "";
    private boolean waitsForContinue;
    private boolean isAllIn;
    private boolean isAnswered;
    private boolean isOver;
    private long dropped;
    private DoorUses.@Nullable Use use;
    private @Nullable RequestBody body;
    private @Nullable ReplyWriter writer;
    private @Nullable Disposable work;

    Exchange(ChannelHandlerContext channel, HttpRequest request) {
      this.channel = channel;
      this.isHead = request.method().name().equals("HEAD");
      this.keepsAlive = HttpUtil.isKeepAlive(request) && !house.keepsNone();
      house.begin();
      watchProgress();
    }

    void begin(HttpRequest request) {
      try {
        requireReadable(request);
        waitsForContinue = HttpUtil.is100ContinueExpected(request);
        HttpHeaders headers = request.headers();
        resource = request.uri();
        Target target = Target.parse(request.uri(), headers.get(HttpHeaderNames.HOST, ""), house.limits.domains());
        resource = target.path();
        Gate.Entry entry = house.gate.enter(request.method(), headers, target);
        DoorUses.Use user = house.uses.of(entry.user());
        use = user;
        DoorSpace space = house.spaceOf(entry.user(), target.bucket());
        Plan plan = house.operations.plan(request.method(), headers, target, house.limits.prefixes().of(entry.user()),
            space.values(), user);
        Rights.require(house.access, entry.user(), space.name(), plan);
        switch (plan) {
          case Plan.Answer answer -> {
            S3Connection.this.more(channel);
            answer(answer.reply());
          }
          case Plan.Read read -> answer(collected(request, entry).flatMap(read.reply()));
          case Plan.Store store -> answer(store.reply().apply(object(request, entry)));
        }
      } catch (RuntimeException refusal) {
        refuse(refusal);
      }
    }

    private void requireReadable(HttpRequest request) {
      Throwable problem = request.decoderResult().cause();
      if (problem != null) {
        keepsAlive = false;
        isAllIn = true; // what follows is not read
        throw problem instanceof TooLongHttpHeaderException || problem instanceof TooLongHttpLineException
            ? new S3Exception(S3Code.REQUEST_HEADERS_TOO_LARGE, "head must be shorter (was too long)")
            : new S3Exception(S3Code.INVALID_REQUEST,
                "request must be in the form of HTTP (" + problem.getMessage() + ")");
      }
    }

    private RequestBody object(HttpRequest request, Gate.Entry entry) {
      HttpHeaders headers = request.headers();
      boolean isChunked = BodyChecks.isChunked(headers);
      String said = headers.get(isChunked ? HANDLED : HttpHeaderNames.CONTENT_LENGTH.toString());
      if (said == null || !said.matches("\\d{1,18}")) {
        throw new S3Exception(S3Code.MISSING_CONTENT_LENGTH, "length of the body must be given (was not)");
      }
      long length = Long.parseLong(said);
      if (length > house.limits.mostBytes()) {
        throw new S3Exception(S3Code.ENTITY_TOO_LARGE,
            "object must be <= " + house.limits.mostBytes() + " bytes (was " + length + ")");
      }
      BodyDecoder decoder =
          isChunked ? new ChunkedBody(length, entry.seal(), headers.contains(TRAILER)) : new PlainBody(length);
      RequestBody made = new RequestBody(channel.channel(), length, decoder, new BodyChecks(headers), house.nanos,
          house.limits.roomNanos(), this::more);
      body = made;
      return made;
    }

    private Mono<byte[]> collected(HttpRequest request, Gate.Entry entry) {
      if (!request.headers().contains(HttpHeaderNames.CONTENT_LENGTH)) {
        request.headers().set(HttpHeaderNames.CONTENT_LENGTH, 0);
      }
      RequestBody document = object(request, entry);
      if (document.length() > Bodies.MOST_BYTES) {
        throw new S3Exception(S3Code.MALFORMED_XML, "document must be <= " + Bodies.MOST_BYTES + " bytes (was longer)");
      }
      return document.bytes().collect(ByteArrayOutputStream::new, Exchange::append)
          .map(ByteArrayOutputStream::toByteArray);
    }

    private static void append(ByteArrayOutputStream all, MemorySegment bytes) {
      all.writeBytes(bytes.toArray(ValueLayout.JAVA_BYTE));
    }

    /// The body wants more.
    private void more() {
      if (waitsForContinue) {
        waitsForContinue = false;
        var _ = channel.writeAndFlush(
            new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE,
                channel.alloc().buffer(0, 0)));
      }
      S3Connection.this.more(channel);
    }

    void came(HttpContent content) {
      boolean isLast = content instanceof LastHttpContent;
      isAllIn |= isLast;
      if (content.decoderResult().isFailure()) {
        keepsAlive = false;
        isAllIn = true;
      }
      RequestBody wanted = body;
      ByteBuf bytes = content.content();
      if (wanted != null && !wanted.isDone()) {
        wanted.came(bytes, isLast);
      } else {
        dropped += bytes.readableBytes();
        content.release();
        if (!isAllIn && dropped <= MOST_DROPPED) {
          S3Connection.this.more(channel);
        }
      }
      if (isAnswered) {
        endIfComplete();
      }
    }

    private void answer(Mono<Reply> reply) {
      work = reply.subscribe(one -> inLoop(() -> write(one)), failure -> inLoop(() -> refuse(failure)));
    }

    private void inLoop(Runnable step) {
      if (channel.executor().inEventLoop()) {
        step.run();
      } else {
        channel.executor().execute(step);
      }
    }

    private void write(Reply reply) {
      if (isOver) {
        Reply.Content content = reply.content();
        if (content != null) {
          content.scope().close();
        }
        return;
      }
      prepare();
      ReplyWriter one = new ReplyWriter(channel, isHead, keepsAlive, this::common);
      writer = one;
      one.write(reply, failure -> {
        if (failure == null) {
          answered();
        } else if (one.hasBegun()) {
          LOG.warn("a response of the door s3 ended before its last byte: {}", failure.getMessage());
          count(DoorUses.Kind.DAMAGE);
          end();
          var _ = channel.close();
        } else {
          writer = null;
          refuse(Failures.ofRead(failure, user()));
        }
      });
    }

    private DoorUses.Use user() {
      DoorUses.Use known = use;
      return known == null ? house.uses.of("") : known;
    }

    private void common(HttpHeaders headers) {
      headers.set("x-amz-request-id", id).set("x-amz-id-2", house.boot()).set(HttpHeaderNames.SERVER, "penstock");
    }

    private void refuse(Throwable failure) {
      if (isOver) {
        return;
      }
      S3Exception refusal = Failures.of(failure);
      boolean isMiss = refusal.code() == S3Code.NO_SUCH_KEY;
      if (!isMiss) {
        count(DoorUses.Kind.REFUSAL);
      }
      if (Failures.isToBeLogged(refusal)) {
        DoorUses.Use known = use;
        house.refusals.add(refusal.code().text() + ", " + refusal.getMessage(), known == null ? "" : known.user(),
            channel.channel().remoteAddress());
      }
      prepare();
      ReplyWriter one = new ReplyWriter(channel, isHead, keepsAlive, this::common);
      writer = one;
      one.write(Failures.reply(refusal, resource, id), none -> answered());
    }

    /// Counts for a user who was let in; there are no others.
    private void count(DoorUses.Kind kind) {
      DoorUses.Use known = use;
      if (known != null) {
        known.count(kind);
      }
    }

    /// A client that was not told to go on sends no body, or sends one all the same: the connection ends.
    private void prepare() {
      if (waitsForContinue && !isAllIn) {
        keepsAlive = false;
      }
    }

    private void answered() {
      isAnswered = true;
      RequestBody wanted = body;
      if (wanted != null) {
        wanted.answered();
        if (!wanted.isDone()) {
          wanted.drop();
        }
      }
      if (wanted == null && !isAllIn && !waitsForContinue) {
        S3Connection.this.more(channel);
      }
      endIfComplete();
    }

    private void endIfComplete() {
      if (isOver || !isAnswered) {
        return;
      }
      boolean isTooMuch = dropped > MOST_DROPPED;
      if (isTooMuch || (!keepsAlive && (isAllIn || waitsForContinue))) {
        end();
        linger(channel);
      } else if (isAllIn) {
        end();
        S3Connection.this.more(channel);
      }
    }

    /// The connection has ended.
    void lost() {
      if (!isOver) {
        RequestBody wanted = body;
        if (wanted != null && !wanted.isDone()) {
          count(DoorUses.Kind.ABORT);
          wanted.fail(new S3Exception(S3Code.INCOMPLETE_BODY, "body must come whole (the connection ended)"));
        }
        if (wanted != null) {
          wanted.answered();
        }
        ReplyWriter writing = writer;
        if (writing != null) {
          writing.cancel();
        }
        Disposable running = work;
        if (running != null && writing == null) {
          running.dispose();
        }
        end();
      }
    }

    private void end() {
      if (!isOver) {
        isOver = true;
        now = null;
        house.end();
        Future<?> running = watch;
        if (running != null) {
          running.cancel(false);
        }
      }
    }

    /// Cuts off a client that neither sends nor takes anything for a while.
    private void watchProgress() {
      long before = moved;
      watch = channel.executor().schedule(() -> {
        if (!isOver) {
          if (moved == before && isStuck()) {
            var _ = channel.close();
          } else {
            watchProgress();
          }
        }
      }, house.limits.stallNanos(), TimeUnit.NANOSECONDS);
    }

    /// Whether the client is the one who is waited for.
    private boolean isStuck() {
      return isAnswered || (writer != null && !channel.channel().isWritable()) || (body != null && body.isReading());
    }
  }
}
