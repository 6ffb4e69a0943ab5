package io.penstock.device.sidecar;

import io.penstock.KvException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/// A connection on a socket, with a thread that reads and one that writes. Who lets more frames pile up than fit is hung up on.
final class SocketLink implements Link {
  private static final int MAX_QUEUED = 4096;
  private static final ByteBuffer END = ByteBuffer.allocate(0);

  private final SocketChannel channel;
  private final LinkEvents events;
  private final BlockingQueue<ByteBuffer> out = new ArrayBlockingQueue<>(MAX_QUEUED);
  private final AtomicBoolean closed = new AtomicBoolean();

  private SocketLink(SocketChannel channel, LinkEvents events) {
    this.channel = channel;
    this.events = events;
  }

  /// Reads until the connection ends; `events` hears of all of it, on this thread. Another thread writes meanwhile.
  ///
  /// @param channel connected, and this one's from now on
  static void run(SocketChannel channel, LinkEvents events) {
    SocketLink link = new SocketLink(channel, events);
    Thread writer = Thread.ofPlatform().daemon().name(Thread.currentThread().getName() + "-out").start(link::write);
    events.opened(link);
    KvException why = link.read();
    link.close();
    join(writer);
    events.closed(why);
  }

  private static void join(Thread writer) {
    boolean interrupted = false;
    while (writer.isAlive()) {
      try {
        writer.join();
      } catch (InterruptedException e) { // it ends at once: its socket is closed
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private KvException read() {
    FrameReader frames = new FrameReader();
    try {
      while (channel.read(frames.room()) >= 0) {
        frames.read(events::received);
      }
      return SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, frames.isInFrame() ? "the peer has gone inside a frame"
          : "the peer has gone");
    } catch (MalformedFrameException e) {
      events.malformed(e);
      drain();
      return SideCarFailure.of(e.code(), SideCarFailure.NO_REGION, e.found());
    } catch (IOException e) {
      return SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, e.toString());
    }
  }

  /// Until somebody hangs up, so that the last word is not lost in what was not read.
  private void drain() {
    ByteBuffer nothing = ByteBuffer.allocate(FrameCodec.MAX_BYTES);
    try {
      while (channel.read(nothing.clear()) >= 0) {
        continue;
      }
    } catch (IOException e) {
      close();
    }
  }

  private void write() {
    try {
      for (ByteBuffer next = out.take(); next.capacity() > 0; next = out.take()) {
        while (next.hasRemaining()) {
          channel.write(next);
        }
      }
    } catch (IOException | InterruptedException e) { // the reader tells why
      close();
      return;
    }
    close();
  }

  @Override
  public void send(Frame frame) {
    if (!closed.get() && !out.offer(FrameCodec.encode(frame))) {
      close();
    }
  }

  @Override
  public void sendLast(Frame frame) {
    send(frame);
    if (!out.offer(END)) {
      close();
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      try {
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } finally {
        out.clear();
        out.offer(END);
      }
    }
  }
}
