package io.penstock.device.sidecar.link;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.link.FrameCodec.MalformedFrameException;
import io.penstock.device.sidecar.link.Link.Dialer;
import io.penstock.device.sidecar.link.Link.Frame;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;

/// A connection on a socket. The sender of a frame writes it without waiting, since a thread for writing would cost a
/// hop a call. The reading thread writes what the socket did not take. A peer that does not read is disconnected once
/// its frames exceed the buffer.
public final class SocketLink implements Link {
  private static final int MAX_QUEUED = 4096;

  private final SocketChannel channel;
  private final SelectionKey key;
  private final Link.Events events;
  private final BooleanSupplier spare;
  /// Bytes that the socket has not taken yet.
  @GuardedBy("out") private final Deque<ByteBuffer> out = new ArrayDeque<>();
  @GuardedBy("out") private boolean ending;

  private SocketLink(SocketChannel channel, SelectionKey key, Link.Events events, BooleanSupplier spare) {
    this.channel = channel;
    this.key = key;
    this.events = events;
    this.spare = spare;
  }

  /// Connects to the node's socket at `path`, each time on a thread of its own, which then reads.
  public static Dialer dialer(Path path) {
    return events -> {
      try {
        Thread.ofPlatform().daemon().name("penstock-sidecar-client").start(() -> connect(path, events));
      } catch (OutOfMemoryError e) { // of threads: others may end until the next try
        events.closed(SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, path + ": " + e.getMessage()));
      }
    };
  }

  private static void connect(Path path, Events events) {
    SocketChannel channel;
    try {
      channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
    } catch (IOException e) {
      events.closed(SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, path + ": " + e.getMessage()));
      return;
    }
    run(channel, events, () -> false);
  }

  /// Reads until the connection ends; `events` receives everything, on this thread.
  ///
  /// @param channel connected; closed here
  /// @param spare a short piece of other work, run when all input was handled; true if there is more
  public static void run(SocketChannel channel, Link.Events events, BooleanSupplier spare) {
    KvException why;
    try (channel; Selector selector = Selector.open()) {
      channel.configureBlocking(false);
      SocketLink link = new SocketLink(channel, channel.register(selector, SelectionKey.OP_READ), events, spare);
      events.opened(link);
      why = link.read();
    } catch (IOException e) {
      why = SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, e.toString());
    }
    events.closed(why);
  }

  private KvException read() throws IOException {
    FrameReader frames = new FrameReader();
    try {
      while (channel.read(frames.room()) >= 0) {
        frames.read(events::received);
        await();
      }
      return SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION,
          frames.isInFrame()
              ? "the peer has gone inside a frame"
              : "the peer has gone");
    } catch (MalformedFrameException e) {
      events.malformed(e);
      drain();
      return SideCarFailure.of(e.code(), SideCarFailure.NO_REGION, e.found());
    }
  }

  /// Reads until the peer hangs up, so that unread input does not drop the last frame.
  private void drain() {
    ByteBuffer nothing = ByteBuffer.allocate(FrameCodec.MAX_BYTES);
    try {
      while (channel.read(nothing.clear()) >= 0) {
        await();
      }
    } catch (IOException e) {
      close();
    }
  }

  /// Waits until bytes may be read, the link is closed, or other work was added; writes the waiting bytes.
  private void await() throws IOException {
    if (spare.getAsBoolean()) {
      key.selector().selectNow();
    } else {
      key.selector().select();
    }
    key.selector().selectedKeys().clear();
    synchronized (out) {
      if (!out.isEmpty()) {
        write();
      }
    }
  }

  @Override
  public void send(Frame frame) {
    put(frame, false);
  }

  @Override
  public void sendLast(Frame frame) {
    put(frame, true);
  }

  private void put(Frame frame, boolean isLast) {
    ByteBuffer bytes = FrameCodec.encode(frame);
    synchronized (out) {
      if (ending || !channel.isOpen()) {
        return;
      }
      ending = isLast;
      if (out.size() == MAX_QUEUED) {
        close();
        return;
      }
      out.add(bytes);
      if (out.size() == 1) {
        write();
      }
    }
  }

  /// Writes as much as the socket takes now; the remainder follows when it takes more.
  @GuardedBy("out") private void write() {
    try {
      for (ByteBuffer next = out.peek(); next != null; next = out.peek()) {
        channel.write(next);
        if (next.hasRemaining()) {
          key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
          key.selector().wakeup();
          return;
        }
        out.remove();
      }
      key.interestOps(SelectionKey.OP_READ);
      if (ending) {
        close();
      }
    } catch (IOException | CancelledKeyException e) { // the reading thread reports it
      close();
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    key.selector().wakeup();
  }
}
