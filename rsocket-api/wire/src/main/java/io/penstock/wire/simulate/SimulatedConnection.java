package io.penstock.wire.simulate;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.FrameLengthException;
import io.penstock.wire.transport.SendQueue;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocketErrorException;
import io.rsocket.exceptions.ConnectionErrorException;
import io.rsocket.frame.ErrorFrameCodec;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// One end of a simulated connection: the real send queue, a wire with latency, rate and window, and its faults.
final class SimulatedConnection implements DuplexConnection, ConnectionGauges {
  private final SimulatedWire wire;
  private final Direction sends;
  private final SendQueue queue;
  private final Scheduler.Worker worker;
  private final List<LinkFault> faults;
  private final SimulatedInbox inbox = new SimulatedInbox(this::taken, this::dispose, this::fail);
  private final ArrayDeque<ByteBuf> underWay = new ArrayDeque<>();
  private final Set<LinkFault> stallsDone = new HashSet<>();
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private final Sinks.Empty<Void> gone = Sinks.empty();

  private @Nullable Throwable cause;
  private Disposable grace = Disposables.disposed();
  private long windowUsed;
  private long lastArrivalNanos;
  private long busyUntilNanos;
  private int sent;
  private int delivered;
  private long writtenBytes;
  private long readBytes;
  private boolean transmitting;
  private boolean waitsForWindow;
  private boolean outputEnded;
  private boolean discarding;
  private boolean vanished;

  SimulatedConnection(SimulatedWire wire, Direction sends) {
    this.wire = wire;
    this.sends = sends;
    this.queue = new SendQueue(wire.plan.limits().maxQueuedBytes(), wire.plan.limits().maxQueuedFrames());
    this.worker = wire.time.scheduler().createWorker();
    this.faults = wire.faultsOf(sends);
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
      case WAKE -> wake();
      case OVERRUN -> fail(queue.overrunBy(size));
      case CLOSED -> closed.tryEmitEmpty(); // one that sends on after the end must stop
      case QUEUED -> {}
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

  // --- gauges

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
    return windowUsed;
  }

  @Override
  public long writtenBytes() {
    return writtenBytes;
  }

  @Override
  public long readBytes() {
    return readBytes;
  }

  // --- sending

  private void wake() {
    if (!transmitting) {
      transmitting = true;
      worker.schedule(this::transmit, Math.max(0, busyUntilNanos - wire.time.nanos()), TimeUnit.NANOSECONDS);
    }
  }

  private void transmit() {
    transmitting = false;
    waitsForWindow = windowUsed >= wire.plan.windowBytes();
    if (vanished || outputEnded || waitsForWindow || stalledOrBroken()) {
      return;
    }
    ByteBuf frame = queue.poll();
    if (frame == null) {
      if (queue.isEnding()) {
        endOutput();
      }
      return;
    }
    int size = frame.readableBytes() + SendQueue.HEADER_BYTES;
    windowUsed += size;
    writtenBytes += size;
    busyUntilNanos = wire.time.nanos() + (long) (size * 1e9 / wire.plan.bytesPerSecond());
    carry(frame);
    wake();
  }

  /// Applies the faults due before the next frame; true if it cannot leave now.
  private boolean stalledOrBroken() {
    boolean held = false;
    for (LinkFault fault : faults) {
      if (fault.atFrame() == sent && queue.frames() > 0) {
        held |= switch (fault) {
          case LinkFault.Stall stall -> stalled(stall);
          case LinkFault.Cut cut -> {
            wire.cut();
            yield true;
          }
          case LinkFault.HalfClose half -> {
            queue.close();
            endOutput();
            yield true;
          }
          case LinkFault.CorruptByte corrupt -> false;
        };
      }
    }
    return held;
  }

  private boolean stalled(LinkFault.Stall stall) {
    if (!stallsDone.add(stall)) {
      return false;
    }
    busyUntilNanos = wire.time.nanos() + stall.pause().toNanos();
    wake();
    return true;
  }

  private void carry(ByteBuf frame) {
    ByteBuf carried = onTheWire(frame, sent++);
    underWay.add(carried);
    afterLatency(() -> arrive(carried));
  }

  private ByteBuf onTheWire(ByteBuf frame, int number) {
    LinkFault.CorruptByte corrupt = corruptionOf(number);
    if (corrupt == null && !wire.plan.copies()) {
      return frame;
    }
    int size = frame.readableBytes();
    ByteBuf copy = wire.alloc.directBuffer(size, Math.max(1, size)).writeBytes(frame);
    frame.release();
    if (corrupt != null && size > 0) {
      int at = corrupt.offset() % size;
      copy.setByte(at, copy.getByte(at) ^ 1 << (corrupt.offset() & 7));
    }
    return copy;
  }

  private LinkFault.@Nullable CorruptByte corruptionOf(int number) {
    for (LinkFault fault : faults) {
      if (fault instanceof LinkFault.CorruptByte corrupt && corrupt.atFrame() == number) {
        return corrupt;
      }
    }
    return null;
  }

  /// In the order of sending, whatever the latency of each.
  private void afterLatency(Runnable arrival) {
    lastArrivalNanos = Math.max(lastArrivalNanos, busyUntilNanos + wire.latencyNanos());
    worker.schedule(arrival, lastArrivalNanos - wire.time.nanos(), TimeUnit.NANOSECONDS);
  }

  private void arrive(ByteBuf frame) {
    if (!vanished) {
      underWay.remove();
      wire.peerOf(sends).take(frame);
    }
  }

  private void endOutput() {
    if (!outputEnded) {
      outputEnded = true;
      busyUntilNanos = Math.max(busyUntilNanos, wire.time.nanos());
      afterLatency(() -> wire.peerOf(sends).hearEnd());
    }
  }

  // --- receiving

  private void take(ByteBuf frame) {
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
    return new LinkEvent(wire.time.nanos(), wire.number, direction, number, frame.readableBytes(), (int) crc.getValue());
  }

  /// The receiver has taken a frame: the sender may go on.
  private void taken(int frameBytes) {
    SimulatedConnection sender = wire.peerOf(sends);
    sender.windowUsed -= frameBytes + SendQueue.HEADER_BYTES;
    if (!sender.vanished && sender.waitsForWindow) { // even with nothing to send: the queue must hear that it is empty
      sender.wake();
    }
  }

  /// The peer sends no more: this end closes too, as a socket without half-open streams.
  private void hearEnd() {
    if (!vanished) {
      queue.close();
      endOutput();
      vanish();
    }
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
    wake();
  }

  private void fail(Throwable broken) {
    if (cause == null) {
      cause = broken;
    }
    end(ErrorFrameCodec.encode(wire.alloc, 0, new ConnectionErrorException(String.valueOf(broken.getMessage()), broken)));
    queue.dropWaiting();
    closed.tryEmitError(broken);
  }

  /// Gone, with all that waited or was under way from here.
  void vanish() {
    if (vanished) {
      return;
    }
    vanished = true;
    endOutput(); // the peer hears it, in order or not
    grace.dispose();
    queue.close();
    for (ByteBuf frame = underWay.poll(); frame != null; frame = underWay.poll()) {
      frame.release();
    }
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
