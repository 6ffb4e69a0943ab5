package io.penstock.wire.simulate;

import io.netty.buffer.ByteBuf;
import io.penstock.wire.transport.frame.SendQueue;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/// Sender of one end of a simulated connection: frames leave the [SendQueue] as rate and window of the link allow,
/// arrive in order after its latency, and meet its faults. One thread, as all of a simulation.
final class SimulatedSender {
  private final SimulatedWire wire;
  private final Direction sends;
  private final SendQueue queue;
  private final Scheduler.Worker worker;
  private final List<LinkFault> faults;
  private final ArrayDeque<ByteBuf> underWay = new ArrayDeque<>();
  private final Set<LinkFault> stallsDone = new HashSet<>();
  private long windowUsed;
  private long lastArrivalNanos;
  private long busyUntilNanos;
  private int sent;
  private long writtenBytes;
  private boolean transmitting;
  private boolean waitsForWindow;
  private boolean outputEnded;
  private boolean vanished;

  SimulatedSender(SimulatedWire wire, Direction sends, SendQueue queue, Scheduler.Worker worker) {
    this.wire = wire;
    this.sends = sends;
    this.queue = queue;
    this.worker = worker;
    this.faults = wire.faultsOf(sends);
  }

  /// Bytes that left and were not taken by the receiver.
  long windowUsed() {
    return windowUsed;
  }

  long writtenBytes() {
    return writtenBytes;
  }

  /// Called when the queue wants to be emptied.
  void wake() {
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

  /// Delivers in the order of sending, for any latency of each frame.
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

  /// Ends sending. The peer learns it after the frames under way, and closes too, as a socket without half-open
  /// streams.
  void endOutput() {
    if (!outputEnded) {
      outputEnded = true;
      busyUntilNanos = Math.max(busyUntilNanos, wire.time.nanos());
      afterLatency(() -> wire.peerOf(sends).vanish());
    }
  }

  /// The receiver has taken a frame: waiting frames may continue.
  void taken(int frameBytes) {
    windowUsed -= frameBytes + SendQueue.HEADER_BYTES;
    if (!vanished && waitsForWindow) { // even with nothing to send: the queue must hear that it is empty
      wake();
    }
  }

  /// Gone, with all that was under way.
  void vanish() {
    vanished = true;
    endOutput(); // the peer hears it, in order or not
    queue.close();
    for (ByteBuf frame = underWay.poll(); frame != null; frame = underWay.poll()) {
      frame.release();
    }
  }
}
