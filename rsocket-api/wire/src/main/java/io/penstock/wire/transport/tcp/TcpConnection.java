package io.penstock.wire.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.unix.DomainSocketChannel;
import io.netty.util.concurrent.Future;
import io.penstock.KvException;
import io.penstock.operator.Failures;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.transport.AwakeLoop;
import io.penstock.wire.transport.AwakeLoops;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.ConnectionListener.FrameListener;
import io.penstock.wire.transport.LoopTimers;
import io.penstock.wire.transport.SourceAddress;
import io.penstock.wire.transport.TimedConnection;
import io.penstock.wire.transport.TransportFailure.FrameLengthException;
import io.penstock.wire.transport.TransportFailure.RefusedPeerException;
import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.frame.FrameBuffers;
import io.penstock.wire.transport.frame.FrameInbox;
import io.penstock.wire.transport.frame.FrameTypes;
import io.penstock.wire.transport.frame.SendQueue;
import io.penstock.wire.transport.frame.StreamBodies;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocketErrorException;
import io.rsocket.exceptions.ConnectionErrorException;
import io.rsocket.exceptions.RejectedSetupException;
import io.rsocket.frame.ErrorFrameCodec;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.netty.Connection;

/// One socket as RSocket sees it.
///
/// **Sending.** Any thread offers frames to the [SendQueue]; the [FramePump] takes them to the channel.
///
/// **Receiving.** Bytes are read only while the subscriber has demand; see [FrameInbox] and [IncomingFrames].
///
/// **Closing.** `dispose` and `sendErrorAndClose` flush what was accepted before, shut the output, and read on into
/// nothing until the peer closes too, so that it hears the last frame instead of a reset; all within `closeGrace`. A
/// broken limit drops what waits, tells the peer by an ERROR frame of stream 0, and closes the same way. `onClose`
/// fires once, with the cause if there was one: when the socket is closed, or before that as soon as a limit was
/// broken.
final class TcpConnection extends ChannelInboundHandlerAdapter
    implements
      DuplexConnection,
      ConnectionGauges,
      TimedConnection {
  /// Its name among the handlers of the channel.
  static final String HANDLER = "penstock.frames";

  /// Message to a peer about a frame at which RSocket fails: internals of the failure are not sent.
  private static final String UNREADABLE = "frames must be those of RSocket 1.0 (was another)";

  private final Channel channel;
  private final Framing framing;
  private final ConnectionLimits limits;
  private final ConnectionListener listener;
  private final SendQueue queue;
  private final FramePump pump;
  private final IncomingFrames incoming;
  private final FrameInbox inbox;
  private final StreamBodies bodies;
  private final NextFrame next;
  private final Object source;
  private final String peer;
  private final long peerProcess;
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private final Sinks.Empty<Void> gone = Sinks.empty();
  private final AtomicReference<@Nullable Throwable> cause = new AtomicReference<>();

  private volatile long readBytes;
  // The rest belongs to the event loop.
  private @Nullable Future<?> grace;
  private boolean discarding;
  private long discarded;

  private TcpConnection(Channel channel, Framing framing, ConnectionLimits limits, ConnectionListener listener,
      AwakeLoops loops, IncomingFrames.@Nullable Server server) {
    this.channel = channel;
    this.framing = framing;
    this.limits = limits;
    this.listener = listener;
    this.queue = new SendQueue(limits.maxQueuedBytes(), limits.maxQueuedFrames());
    this.source = SourceAddress.of(channel.remoteAddress());
    this.peer = SourceAddress.words(channel.remoteAddress());
    this.peerProcess = PeerProcess.of(channel);
    FrameListener frames = listener.frames(this);
    AwakeLoop loop = loops.of(channel.eventLoop());
    this.next = new NextFrame(() -> loop.heard(false));
    this.pump = new FramePump(channel, framing, queue, this::execute, this::breakOff, frames, next);
    long mostWaiting = 2L * limits.maxReceiveBytes() + limits.maxFrameBytes();
    this.inbox = new FrameInbox(channel.eventLoop(), mostWaiting, this::showDemand, this::dispose, this::fail);
    this.bodies = new StreamBodies(inbox::isPassing, this::giveUpAbandoned);
    this.incoming = frames == null
        ? new IncomingFrames(channel, limits.maxFrameBytes(), server, this, bodies,
            passedOn(next, bodies, inbox))
        : new IncomingFrames(channel, limits.maxFrameBytes(), server, this, null, heard(next, frames, inbox));
  }

  private static Consumer<ByteBuf> passedOn(NextFrame next, StreamBodies bodies, FrameInbox inbox) {
    Consumer<ByteBuf> accept = inbox::accept;
    return frame -> {
      next.passes(frame);
      bodies.receives(frame, accept);
    };
  }

  private static Consumer<ByteBuf> heard(NextFrame next, FrameListener frames, FrameInbox inbox) {
    return frame -> {
      next.passes(frame);
      frames.received(frame);
      inbox.accept(frame);
    };
  }

  /// Takes a connected channel over; call it on the channel's event loop, before anything was read.
  static TcpConnection open(Connection connection, Framing framing, ConnectionLimits limits,
      ConnectionListener listener, AwakeLoops loops) {
    return open(connection, framing, limits, listener, loops, null, false);
  }

  /// Opens with TLS, if `options` have it; completes when frames may be sent.
  static Mono<DuplexConnection> open(Connection connection, Framing framing, TcpClientOptions options,
      ConnectionListener listener, AwakeLoops loops) {
    Channel channel = connection.channel();
    ClientTls tls = options.tls();
    if (tls == null || !(options.remote() instanceof InetSocketAddress node)) {
      return framing.install(channel.pipeline(), open(connection, framing, options.limits(), listener, loops));
    }
    TcpConnection opened = open(connection, framing, options.limits(), listener, loops, null, true);
    return TlsStart.connect(channel, opened, node, options.connectTimeout(), tls)
        .flatMap(secured -> framing.install(channel.pipeline(), opened));
  }

  /// Opens a channel that a server accepted.
  static TcpConnection accept(Connection connection, Framing framing, TcpServerOptions options,
      ConnectionListener listener, IncomingFrames.Server server) {
    ServerTls tls = options.local() instanceof InetSocketAddress ? options.tls() : null;
    TcpConnection opened = open(connection, framing, options.limits(), listener, server.loops(), server, tls != null);
    TlsStart.accept(connection.channel(), opened, tls);
    opened.incoming.begin(options.slots().timeToSetup());
    server.accepted().enter(opened);
    return opened;
  }

  private static TcpConnection open(Connection connection, Framing framing, ConnectionLimits limits,
      ConnectionListener listener, AwakeLoops loops, IncomingFrames.@Nullable Server server, boolean hasTls) {
    Channel channel = connection.channel();
    TcpConnection opened = new TcpConnection(channel, framing, limits, listener, loops, server);
    ChannelConfig config = channel.config();
    config.setAutoRead(false);
    config.setRecvByteBufAllocator(
        hasTls ? TlsStart.buffers(limits) : new FrameBuffers(limits, opened.incoming.decoder()));
    config.setWriteBufferWaterMark(new WriteBufferWaterMark(limits.maxChannelBytes() / 2, limits.maxChannelBytes()));
    connection.addHandlerLast(HANDLER, opened);
    listener.opened(opened);
    LoopTimers.judgeAfter(channel.eventLoop());
    channel.closeFuture().addListener(done -> opened.ended());
    return opened;
  }

  // --- DuplexConnection: any thread

  @Override
  public void sendFrame(int streamId, ByteBuf frame) {
    int size = frame.readableBytes();
    if (size > limits.maxFrameBytes()) {
      frame.release();
      fail(new FrameLengthException(size, limits.maxFrameBytes()));
      return;
    }
    incoming.sent(streamId, frame);
    bodies.sends(streamId, frame);
    boolean isCancel = FrameTypes.is(FrameType.CANCEL, frame);
    switch (queue.offer(streamId, frame)) {
      case WAKE -> pump.wake(size);
      case OVERRUN -> fail(queue.overrunBy(size));
      case CLOSED -> {
        if (!isCancel) { // the stream of a cancel has ended, and would hear of another end
          stopSenderOnLoop();
        }
      }
      case QUEUED -> {
      }
    }
  }

  @Override
  public void sendErrorAndClose(RSocketErrorException error) {
    end(ErrorFrameCodec.encode(alloc(), 0, error));
  }

  @Override
  public void dispose() {
    end(null);
  }

  @Override
  public Flux<ByteBuf> receive() {
    return inbox;
  }

  @Override
  public Mono<Void> onClose() {
    return closed.asMono();
  }

  /// Completes when the socket is closed and everything was released.
  Mono<Void> gone() {
    return gone.asMono();
  }

  /// Value that connections of one peer share.
  Object source() {
    return source;
  }

  /// True from the moment nothing more is sent.
  @Override
  public boolean isDisposed() {
    return queue.isEnding();
  }

  @Override
  public ByteBufAllocator alloc() {
    return channel.alloc();
  }

  @Override
  public SocketAddress remoteAddress() {
    return channel.remoteAddress();
  }

  @Override
  public Scheduler timers() {
    return LoopTimers.of(channel.eventLoop());
  }

  // --- gauges: any thread

  @Override
  public TransportKind transport() {
    return framing instanceof WebSocketFraming
        ? TransportKind.WS
        : channel instanceof DomainSocketChannel ? TransportKind.UDS : TransportKind.TCP;
  }

  @Override
  public String peer() {
    return peer;
  }

  @Override
  public String local() {
    return channel.localAddress() instanceof InetSocketAddress ? SourceAddress.words(channel.localAddress()) : "";
  }

  @Override
  public long peerProcess() {
    return peerProcess;
  }

  @Override
  public long queuedBytes() {
    return queue.bytes();
  }

  @Override
  public int queuedFrames() {
    return queue.frames();
  }

  @Override
  public long peakQueuedBytes() {
    return queue.peakBytes();
  }

  @Override
  public long channelBytes() {
    long untilFull = channel.bytesBeforeUnwritable();
    return untilFull > 0
        ? limits.maxChannelBytes() - untilFull
        : limits.maxChannelBytes() / 2 + channel.bytesBeforeWritable();
  }

  @Override
  public long writtenBytes() {
    return pump.writtenBytes();
  }

  @Override
  public long readBytes() {
    return readBytes;
  }

  // --- ending: any thread

  private void end(@Nullable ByteBuf last) {
    SendQueue.Offer offer = queue.end(last);
    if (offer != SendQueue.Offer.CLOSED) {
      onLoop(this::discardInput);
      if (offer == SendQueue.Offer.WAKE) {
        pump.wake(0);
      }
    }
  }

  /// Ends at once for a broken rule: drops waiting frames, and sends the peer the reason.
  void fail(Throwable failure) {
    Throwable broken = Failures.passable(failure);
    cause.compareAndSet(null, broken);
    end(ErrorFrameCodec.encode(alloc(), 0, told(broken)));
    queue.dropWaiting();
    // Senders stop now: one that sends without a pause on the loop would never let it close
    closed.tryEmitError(broken);
  }

  private static RSocketErrorException told(Throwable broken) {
    String message = broken instanceof KvException ? String.valueOf(broken.getMessage()) : UNREADABLE;
    return broken instanceof RefusedPeerException refused && refused.reason().isOfSetup()
        ? new RejectedSetupException(message, broken)
        : new ConnectionErrorException(message, broken);
  }

  /// Ends for a broken rule of which the peer learns in another way than by a frame, before the channel closes.
  void endedBy(Throwable broken) {
    cause.compareAndSet(null, broken);
    queue.close();
    closed.tryEmitError(broken);
  }

  /// Called after [#fail]: sends the peer the reason, and does not wait until it has read that.
  void closeAtOnce() {
    onLoop(() -> {
      pump.drain();
      closeNow();
    });
  }

  /// Stops a sender that holds the loop at once: the loop cannot close the channel before it returns.
  private void stopSenderOnLoop() {
    if (channel.eventLoop().inEventLoop()) {
      closed.tryEmitEmpty();
    }
  }

  void onLoop(Runnable step) {
    if (channel.eventLoop().inEventLoop()) {
      step.run();
      return;
    }
    execute(step);
  }

  /// Runs `step` on the event loop. What it throws ends this connection.
  private void execute(Runnable step) {
    try {
      channel.eventLoop().execute(() -> {
        try {
          step.run();
        } catch (RuntimeException | Error e) {
          fail(e);
        }
      });
    } catch (RejectedExecutionException e) { // the loop closed the channel before it ended
      queue.close();
    }
  }

  // --- receiving: event loop

  private void giveUpAbandoned() {
    onLoop(() -> incoming.decoder().giveUpAbandoned());
  }

  /// Reads, or does not, as the subscriber and the room for frames want.
  void showDemand() {
    boolean wanted = discarding || (inbox.hasDemand() && !incoming.isWaiting());
    if (channel.config().isAutoRead() != wanted) {
      channel.config().setAutoRead(wanted);
    }
  }

  private void discardInput() {
    if (discarding || !channel.isOpen()) {
      return;
    }
    discarding = true;
    incoming.close();
    grace = channel.eventLoop().schedule(this::closeNow, limits.closeGrace().toNanos(), TimeUnit.NANOSECONDS);
    showDemand();
  }

  /// The channel closes for this reason, if there was none before.
  void endsBy(Throwable reason) {
    cause.compareAndSet(null, reason);
  }

  void breakOff(Throwable thrown) {
    endsBy(thrown);
    closeNow();
  }

  private void closeNow() {
    ChannelFuture unused = TlsStart.close(channel);
  }

  private void ended() {
    queue.close();
    incoming.close();
    if (grace != null) {
      grace.cancel(false);
    }
    Throwable why = cause.get();
    inbox.terminate(why);
    listener.closed(this, why);
    if (why == null) {
      closed.tryEmitEmpty();
    } else {
      closed.tryEmitError(why);
    }
    gone.tryEmitEmpty();
  }

  // --- channel handler: event loop

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    pump.attach(context);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    readBytes = readBytes() + in.readableBytes();
    next.moved(in.readableBytes());
    pump.readBegins();
    try {
      if (discarding) {
        discard(in.readableBytes());
      } else {
        incoming.read(in);
      }
    } catch (RuntimeException | Error e) {
      fail(e);
    } finally {
      in.release();
      pump.readEnds();
    }
  }

  /// A peer that broke a rule and keeps sending is not read to its end: it has had a longest frame's time to read the
  /// reason.
  private void discard(int bytes) {
    discarded += bytes;
    if (cause.get() != null && discarded > limits.maxFrameBytes()) {
      closeNow();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    incoming.readComplete();
    next.await();
    context.fireChannelReadComplete();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    pump.drain();
    context.fireChannelWritabilityChanged();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable thrown) {
    breakOff(TlsStart.plain(thrown));
  }

  @Override
  public String toString() {
    return "TcpConnection[" + channel.localAddress() + " -> " + channel.remoteAddress() + "]";
  }
}
