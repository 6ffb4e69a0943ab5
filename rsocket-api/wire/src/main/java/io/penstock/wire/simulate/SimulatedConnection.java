package io.penstock.wire.simulate;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.TimedConnection;
import io.penstock.wire.transport.TransportFailure.FrameLengthException;
import io.penstock.wire.transport.frame.SendQueue;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocketErrorException;
import io.rsocket.exceptions.ConnectionErrorException;
import io.rsocket.frame.ErrorFrameCodec;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// One end of a simulated connection: the real send queue, a link with its faults behind it ([SimulatedSender]), and
/// frames from the other end.
final class SimulatedConnection implements DuplexConnection, ConnectionGauges, TimedConnection {
  private final SimulatedWire wire;
  private final Direction sends;
  private final SendQueue queue;
  private final SimulatedSender sender;
  private final Scheduler.Worker worker;
  private final SimulatedInbox inbox = new SimulatedInbox(this::taken, this::dispose, this::fail);
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private final Sinks.Empty<Void> gone = Sinks.empty();

  private @Nullable Throwable cause;
  private Disposable grace = Disposables.disposed();
  private int delivered;
  private long readBytes;
  private boolean discarding;
  private boolean vanished;

  SimulatedConnection(SimulatedWire wire, Direction sends) {
    this.wire = wire;
    this.sends = sends;
    this.queue = new SendQueue(wire.plan.limits().maxQueuedBytes(), wire.plan.limits().maxQueuedFrames());
    this.worker = wire.time.scheduler().createWorker();
    this.sender = new SimulatedSender(wire, sends, queue, worker);
  }

  // --- DuplexConnection

  @Override
  public void sendFrame(int streamId, ByteBuf frame) {
    int size = frame.readableBytes();
    if (size > wire.plan.limits().maxFrameBytes()) {
      frame.release();
      fail(new FrameLengthException(size, wire.plan.limits().maxFrameBytes()));
      return;
    }
    switch (queue.offer(streamId, frame)) {
      case WAKE -> sender.wake();
      case OVERRUN -> fail(queue.overrunBy(size));
      case CLOSED -> closed.tryEmitEmpty(); // one that sends on after the end must stop
      case QUEUED -> {
      }
    }
  }

  @Override
  public void sendErrorAndClose(RSocketErrorException error) {
    end(ErrorFrameCodec.encode(wire.alloc, 0, error));
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

  @Override
  public boolean isDisposed() {
    return queue.isEnding();
  }

  @Override
  public ByteBufAllocator alloc() {
    return wire.alloc;
  }

  @Override
  public SocketAddress remoteAddress() {
    return new SimulatedAddress(wire.name, sends == Direction.UP ? Direction.DOWN : Direction.UP);
  }

  @Override
  public Scheduler timers() {
    return wire.time.scheduler();
  }

  // --- gauges

  @Override
  public String peer() {
    return String.valueOf(remoteAddress());
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
    return sender.windowUsed();
  }

  @Override
  public long writtenBytes() {
    return sender.writtenBytes();
  }

  @Override
  public long readBytes() {
    return readBytes;
  }

  // --- receiving

  /// A frame has arrived over the wire.
  void take(ByteBuf frame) {
    readBytes += frame.readableBytes() + SendQueue.HEADER_BYTES;
    int number = delivered++;
    if (vanished || discarding) {
      taken(frame.readableBytes());
      frame.release();
      return;
    }
    wire.trace.accept(event(number, frame));
    inbox.accept(frame);
  }

  private LinkEvent event(int number, ByteBuf frame) {
    CRC32C crc = new CRC32C();
    for (ByteBuffer part : frame.nioBuffers()) {
      crc.update(part);
    }
    Direction direction = sends == Direction.UP ? Direction.DOWN : Direction.UP;
    return new LinkEvent(wire.time.nanos(), wire.number, direction, number, frame.readableBytes(),
        (int) crc.getValue());
  }

  /// The receiver has taken a frame: the sender may continue.
  private void taken(int frameBytes) {
    wire.peerOf(sends).sender.taken(frameBytes);
  }

  // --- ending

  private void end(@Nullable ByteBuf last) {
    SendQueue.Offer offer = queue.end(last);
    if (offer == SendQueue.Offer.CLOSED) {
      return;
    }
    discarding = true;
    inbox.dropWaiting();
    grace = worker.schedule(this::vanish, wire.plan.limits().closeGrace().toNanos(), TimeUnit.NANOSECONDS);
    sender.wake();
  }

  private void fail(Throwable broken) {
    if (cause == null) {
      cause = broken;
    }
    end(ErrorFrameCodec.encode(wire.alloc, 0,
        new ConnectionErrorException(String.valueOf(broken.getMessage()), broken)));
    queue.dropWaiting();
    closed.tryEmitError(broken);
  }

  /// Gone, with all that waited or was under way from here.
  void vanish() {
    if (vanished) {
      return;
    }
    vanished = true;
    sender.vanish();
    grace.dispose();
    inbox.terminate(cause);
    Throwable why = cause;
    if (why == null) {
      closed.tryEmitEmpty();
    } else {
      closed.tryEmitError(why);
    }
    gone.tryEmitEmpty();
  }

  /// Completes when everything was released.
  Mono<Void> gone() {
    return gone.asMono();
  }

  /// One end of a wire.
  private static final class SimulatedAddress extends SocketAddress {
    private final String text;

    SimulatedAddress(String wire, Direction end) {
      this.text = "simulated:" + wire + "/" + end;
    }

    @Override
    public String toString() {
      return text;
    }
  }
}
