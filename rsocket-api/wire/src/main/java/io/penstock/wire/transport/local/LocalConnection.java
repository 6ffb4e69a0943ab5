package io.penstock.wire.transport.local;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.penstock.operator.Failures;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.ConnectionListener.FrameListener;
import io.penstock.wire.transport.LoopTimers;
import io.penstock.wire.transport.SourceAddress;
import io.penstock.wire.transport.TimedConnection;
import io.penstock.wire.transport.TransportFailure.FrameLengthException;
import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.frame.FrameInbox;
import io.penstock.wire.transport.frame.SendQueue;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocketErrorException;
import io.rsocket.exceptions.ConnectionErrorException;
import io.rsocket.frame.ErrorFrameCodec;
import java.net.SocketAddress;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// One end of a connection within this process. Its frames wait in its [SendQueue] until the other end has demand; the
/// other end takes them from there on its own event loop.
///
/// A close lets the other end take frames that were accepted before, within `closeGrace`; a broken limit drops them.
final class LocalConnection implements DuplexConnection, ConnectionGauges, TimedConnection {
  /// Frames that one task delivers before others of the loop have their turn.
  private static final int BURST_FRAMES = 256;

  /// Settings of one side of a connection.
  record Setting(ConnectionLimits limits, LoopResources loops, ConnectionListener listener, ByteBufAllocator alloc,
      SocketAddress address) {
    EventLoop loop(boolean server) {
      return (server ? loops.onServer(false) : loops.onClient(false)).next();
    }
  }

  /// Both ends.
  record Pair(LocalConnection client, LocalConnection server) {}

  private final Setting setting;
  private final EventLoop loop;
  private final SendQueue queue;
  private final FrameInbox inbox;
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private final Sinks.Empty<Void> gone = Sinks.empty();
  private final AtomicReference<@Nullable Throwable> cause = new AtomicReference<>();
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile long writtenBytes;
  private volatile long readBytes;
  private @Nullable LocalConnection peer;
  private final @Nullable FrameListener frames;
  // The rest belongs to the event loop.
  private boolean taking;

  private LocalConnection(Setting setting, boolean server) {
    this.setting = setting;
    this.loop = setting.loop(server);
    ConnectionLimits limits = setting.limits();
    this.queue = new SendQueue(limits.maxQueuedBytes(), limits.maxQueuedFrames());
    this.inbox = new FrameInbox(loop, limits.maxFrameBytes(), this::take, this::dispose, this::fail);
    this.frames = setting.listener().frames(this);
  }

  static Pair pair(Setting client, Setting server) {
    LocalConnection asking = new LocalConnection(client, false);
    LocalConnection asked = new LocalConnection(server, true);
    asking.peer = asked;
    asked.peer = asking;
    client.listener().opened(asking);
    server.listener().opened(asked);
    return new Pair(asking, asked);
  }

  private LocalConnection peerEnd() {
    return requireNonNull(peer, "both ends are made together");
  }

  // --- DuplexConnection: any thread

  @Override
  public void sendFrame(int streamId, ByteBuf frame) {
    int size = frame.readableBytes();
    if (size < ConnectionLimits.SHORTEST_FRAME || size > setting.limits().maxFrameBytes()) {
      frame.release();
      fail(new FrameLengthException(size, setting.limits().maxFrameBytes()));
      return;
    }
    switch (queue.offer(streamId, frame)) {
      case WAKE -> peerEnd().execute(peerEnd()::take);
      case OVERRUN -> fail(queue.overrunBy(size));
      case CLOSED -> closed.tryEmitEmpty();
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

  private void end(@Nullable ByteBuf last) {
    if (queue.end(last) == SendQueue.Offer.CLOSED) {
      return;
    }
    LocalConnection other = peerEnd();
    other.execute(other::take);
    execute(() -> {
      Future<?> unused = loop.schedule(this::finish, setting.limits().closeGrace().toNanos(), TimeUnit.NANOSECONDS);
    });
  }

  private void fail(Throwable failure) {
    Throwable broken = Failures.passable(failure);
    cause.compareAndSet(null, broken);
    end(ErrorFrameCodec.encode(alloc(), 0,
        new ConnectionErrorException(String.valueOf(broken.getMessage()), broken)));
    queue.dropWaiting();
    closed.tryEmitError(broken);
  }

  /// Both ends are over: drops waiting frames.
  private void finish() {
    over();
    peerEnd().over();
  }

  private void over() {
    if (!over.compareAndSet(false, true)) {
      return;
    }
    queue.close();
    execute(() -> {
      Throwable why = cause.get();
      inbox.terminate(why);
      setting.listener().closed(this, why);
      if (why == null) {
        closed.tryEmitEmpty();
      } else {
        closed.tryEmitError(why);
      }
      gone.tryEmitEmpty();
    });
  }

  private void execute(Runnable step) {
    if (loop.isShuttingDown()) {
      step.run();
      return;
    }
    try {
      loop.execute(step);
    } catch (RejectedExecutionException e) { // the loop ended: no other thread is here
      step.run();
    }
  }

  // --- receiving: event loop

  /// Takes the frames of the other end, as far as there is demand.
  private void take() {
    if (taking || over.get()) {
      return;
    }
    taking = true;
    try {
      takeSome();
    } finally {
      taking = false;
    }
  }

  private void takeSome() {
    LocalConnection from = peerEnd();
    for (int frames = 0; queue.isEnding() || inbox.hasDemand(); frames++) {
      if (frames == BURST_FRAMES) {
        execute(this::take);
        return;
      }
      ByteBuf frame = from.queue.poll();
      if (frame == null) {
        if (from.queue.isEnding()) {
          finish();
        }
        return;
      }
      int bytes = SendQueue.HEADER_BYTES + frame.readableBytes();
      from.writtenBytes = from.writtenBytes() + bytes;
      readBytes = readBytes() + bytes;
      try {
        if (from.frames != null) {
          from.frames.sent(frame); // on this loop, which takes all frames of that direction
        }
        if (!queue.isEnding()) {
          if (this.frames != null) {
            this.frames.received(frame);
          }
          inbox.accept(frame);
        }
      } catch (RuntimeException | Error e) {
        fail(e);
      } finally {
        frame.release();
      }
    }
  }

  @Override
  public Flux<ByteBuf> receive() {
    return inbox;
  }

  @Override
  public Mono<Void> onClose() {
    return closed.asMono();
  }

  /// Completes when everything was released.
  Mono<Void> gone() {
    return gone.asMono();
  }

  @Override
  public boolean isDisposed() {
    return queue.isEnding();
  }

  @Override
  public ByteBufAllocator alloc() {
    return setting.alloc();
  }

  @Override
  public SocketAddress remoteAddress() {
    return peerEnd().setting.address();
  }

  @Override
  public Scheduler timers() {
    return LoopTimers.of(loop);
  }

  // --- gauges: any thread

  @Override
  public TransportKind transport() {
    return TransportKind.LOCAL;
  }

  @Override
  public String peer() {
    return SourceAddress.words(remoteAddress());
  }

  @Override
  public long peerProcess() {
    return ProcessHandle.current().pid();
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
    return 0;
  }

  @Override
  public long writtenBytes() {
    return writtenBytes;
  }

  @Override
  public long readBytes() {
    return readBytes;
  }

  @Override
  public String toString() {
    return "LocalConnection[" + setting.address() + "]";
  }
}
