package io.penstock.lab.attack;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.unix.DomainSocketChannel;
import io.rsocket.frame.CancelFrameCodec;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import io.rsocket.frame.PayloadFrameCodec;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// One connection of an attacker. It knows which of its requests the node still works on, and drops answers. The
/// attackers' event loop makes every call.
final class Peer extends SimpleChannelInboundHandler<ByteBuf> {
  /// Limits in the Welcome of the node.
  record Limits(int maxSliceBytes, int windowBlocks, int maxKeys) {
    private static Limits of(JsonNode welcome) {
      return new Limits(welcome.path("maxSliceBytes").asInt(), welcome.path("windowBlocks").asInt(),
          welcome.path("maxKeys").asInt());
    }
  }

  /// Makes the frame of a request with the number of its stream.
  @FunctionalInterface
  interface Request {
    ByteBuf frame(int stream, Limits limits);
  }

  /// Receives the answer to a request.
  @FunctionalInterface
  interface Answered {
    void by(JsonNode answer);
  }

  /// Limits for requests that need none.
  static final Limits NONE = new Limits(0, 0, 0);

  private static final int HELLO = 1;

  private final Consumer<Peer> greeting;
  private final Deque<Integer> streams = new ArrayDeque<>();
  /// Remaining frames of requests that are sent slowly.
  private final Map<Integer, Iterator<Supplier<ByteBuf>>> later = new HashMap<>();
  /// Those requests that have credit.
  private final Set<Integer> credited = new LinkedHashSet<>();
  private final Map<Integer, Answered> answers = new HashMap<>();
  private @Nullable Channel channel;
  /// Whether a length stands before each frame.
  private boolean hasLengths = true;
  private @Nullable Limits limits;
  private int next = HELLO;

  /// @param greeting called when the connection is open
  Peer(Consumer<Peer> greeting) {
    this.greeting = greeting;
  }

  /// A peer that sets up and says hello correctly, and is ready when the node has welcomed it.
  static Peer polite() {
    return new Peer(Peer::greet);
  }

  private void greet() {
    send(Frames.setup(Frames.KEEP_ALIVE, Frames.LIFETIME));
    ask((stream, none) -> Frames.hello(stream), NONE);
  }

  /// Limits of the node; null before its Welcome.
  @Nullable Limits limits() {
    return limits;
  }

  /// Requests that have no end yet.
  int streams() {
    return streams.size();
  }

  /// Calls `answered` with the Welcome of the node.
  void whenAnswered(Answered answered) {
    whenAnswered(HELLO, answered);
  }

  /// Calls `answered` with the answer to the request `stream`, unless that is an error.
  void whenAnswered(int stream, Answered answered) {
    answers.put(stream, answered);
  }

  /// Whether it came through a socket that only this host has.
  boolean isOfThisHost() {
    return channel instanceof DomainSocketChannel;
  }

  /// Whether it asked for anything but a welcome.
  boolean hasAsked() {
    return next > HELLO + 2;
  }

  /// Whether more can be sent without waiting in this process.
  boolean isWritable() {
    return channel != null && channel.isWritable();
  }

  /// Sends a request on a stream of its own.
  void ask(Request request, Limits limits) {
    streams.add(next);
    send(request.frame(next, limits));
    next += 2;
  }

  /// Sends the first of `frames` as soon as the node gives credit for the last request, then one for each call of
  /// [#goOn].
  ///
  /// @param frames of a stream
  void thenSlowly(IntFunction<Iterator<Supplier<ByteBuf>>> frames) {
    later.put(next - 2, frames.apply(next - 2));
  }

  /// Sends the next frame of each slow request.
  void goOn() {
    credited.forEach(this::sendNext);
  }

  private void sendNext(int stream) {
    Iterator<Supplier<ByteBuf>> frames = later.getOrDefault(stream, Collections.emptyIterator());
    if (frames.hasNext()) {
      send(frames.next().get());
    }
  }

  private void forget(int stream) {
    streams.remove(stream);
    later.remove(stream);
    credited.remove(stream);
    answers.remove(stream);
  }

  /// Gives up every request that has no end yet.
  void cancel() {
    streams.forEach(stream -> send(CancelFrameCodec.encode(ByteBufAllocator.DEFAULT, stream)));
    streams.clear();
    later.clear();
    credited.clear();
  }

  void send(ByteBuf frame) {
    raw(hasLengths ? Frames.framed(frame) : frame);
  }

  /// Sends bytes that need be no frame.
  void raw(ByteBuf bytes) {
    if (channel == null) {
      bytes.release();
    } else {
      ChannelFuture unused = channel.writeAndFlush(bytes, channel.voidPromise());
    }
  }

  /// Takes nothing from its socket from now on.
  void deafen() {
    if (channel != null) {
      channel.config().setAutoRead(false);
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    opened(context.channel(), true);
  }

  /// The connection is open for frames.
  ///
  /// @param lengths whether a length stands before each frame
  void opened(Channel open, boolean lengths) {
    channel = open;
    hasLengths = lengths;
    greeting.accept(this);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
    received(frame);
  }

  /// A frame of the node, which stays the caller's.
  void received(ByteBuf frame) {
    if (frame.readableBytes() < FrameHeaderCodec.size()) {
      return;
    }
    int stream = FrameHeaderCodec.streamId(frame);
    FrameType type = FrameHeaderCodec.frameType(frame);
    Answered answered = type == FrameType.NEXT_COMPLETE || type == FrameType.NEXT ? answers.remove(stream) : null;
    if (answered != null) {
      answered.by(Frames.read(PayloadFrameCodec.data(frame)));
    }
    if (stream == HELLO && limits == null && type != FrameType.ERROR) {
      limits = Limits.of(Frames.read(PayloadFrameCodec.data(frame)));
      streams.remove(stream);
    } else if (type == FrameType.REQUEST_N && later.containsKey(stream)) {
      if (credited.add(stream)) {
        sendNext(stream);
      }
    } else if (type == FrameType.ERROR || type == FrameType.CANCEL || FrameHeaderCodec.hasComplete(frame)) {
      forget(stream);
    }
  }

  /// The node ended the connection, which is its right.
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    ChannelFuture unused = context.close();
  }
}
