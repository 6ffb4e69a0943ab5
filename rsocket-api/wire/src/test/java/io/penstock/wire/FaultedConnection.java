package io.penstock.wire;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// One connection through a [FaultProxy]: a thread for each direction.
final class FaultedConnection implements AutoCloseable {
  /// Longest wait of bytes that a later connection overtakes.
  private static final long MOST_HELD_MILLIS = 1000;
  private static final int BUFFER = 16 << 10;

  /// Hears what a connection has carried to its client so far.
  interface Listener {
    void carried(FaultedConnection connection, long bytes);
  }

  private final FaultPlan plan;
  private final SocketChannel client;
  private final SocketChannel server;
  private final CountDownLatch caseOver;
  private final boolean reconnects;
  private final Listener listener;
  private final CountDownLatch overtaken = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean silent;
  private volatile boolean fired;
  private volatile boolean held;
  private final AtomicLong moved = new AtomicLong();

  /// @param caseOver open when no later connection will do anything
  FaultedConnection(FaultPlan plan, SocketChannel client, SocketChannel server, CountDownLatch caseOver,
      boolean reconnects, Listener listener) {
    this.plan = plan;
    this.client = client;
    this.server = server;
    this.caseOver = caseOver;
    this.reconnects = reconnects;
    this.listener = listener;
  }

  FaultPlan plan() {
    return plan;
  }

  /// Whether the plan's byte has come.
  boolean fired() {
    return fired;
  }

  long moved() {
    return moved.get();
  }

  void overtake() {
    overtaken.countDown();
  }

  void start() throws IOException {
    if (client.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY)) {
      client.setOption(StandardSocketOptions.TCP_NODELAY, true);
      server.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }
    Thread.ofVirtual().start(() -> pump(client, server, false));
    Thread.ofVirtual().start(() -> pump(server, client, true));
  }

  private void pump(SocketChannel from, SocketChannel to, boolean towardsClient) {
    try {
      ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
      long passed = 0;
      for (int n = from.read(buffer); n >= 0; n = from.read(buffer)) {
        buffer.flip();
        if (isDue(towardsClient, passed, n)) {
          int at = Math.toIntExact(plan.afterBytes() - passed);
          write(buffer.slice(0, at), to);
          buffer.position(at);
          fired = true;
          if (isOverAfterFault(from, to, buffer)) {
            return;
          }
        }
        if (plan.kind() == FaultPlan.Kind.FREEZE && silent) {
          closed.await();
        }
        if (!silent && !(held && towardsClient)) {
          write(buffer, to);
        }
        buffer.clear();
        passed += n;
        moved.addAndGet(n);
        if (towardsClient) {
          listener.carried(this, passed);
        }
      }
      endIfHeard();
    } catch (IOException _) {
      endIfHeard();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void write(ByteBuffer bytes, SocketChannel to) throws IOException {
    while (bytes.hasRemaining()) {
      to.write(bytes);
    }
  }

  private boolean isDue(boolean towardsClient, long passed, int next) {
    return plan.kind() != FaultPlan.Kind.NONE && plan.towardsClient() == towardsClient && plan.afterBytes() >= passed
        && plan.afterBytes() < passed + next;
  }

  /// Does what the plan says before the next byte of `left`; true if this direction is over.
  private boolean isOverAfterFault(SocketChannel from, SocketChannel to, ByteBuffer left)
      throws IOException, InterruptedException {
    switch (plan.kind()) {
      case CUT -> end();
      case RESET -> reset();
      case HALF_CLOSE -> to.shutdownOutput();
      case HALF_OPEN, FREEZE -> silent = true;
      case STALL -> closed.await(plan.amount(), TimeUnit.MILLISECONDS);
      case CORRUPT -> left.put(left.position(), (byte) (left.get(left.position()) ^ 1 << plan.amount() % 8));
      case REORDER -> reorder(from, to, left);
      case NONE -> throw new AssertionError("a plan without a fault is never due");
    }
    return switch (plan.kind()) {
      case CUT, RESET, HALF_CLOSE -> true;
      case REORDER -> reconnects;
      default -> false;
    };
  }

  private void reorder(SocketChannel from, SocketChannel to, ByteBuffer left) throws IOException, InterruptedException {
    if (!reconnects) {
      awaitOvertaken(caseOver);
    } else if (plan.towardsClient()) {
      end(); // nothing is late for a client that opened another connection
    } else {
      held = true;
      client.shutdownOutput();
      ByteArrayOutputStream late = new ByteArrayOutputStream();
      late.write(left.array(), left.position(), left.remaining());
      ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
      for (int n = readOrEnd(from, buffer); n >= 0; n = readOrEnd(from, buffer)) {
        late.write(buffer.array(), 0, n);
        buffer.clear();
      }
      awaitOvertaken(overtaken);
      write(ByteBuffer.wrap(late.toByteArray()), to);
      end();
    }
  }

  private static int readOrEnd(SocketChannel from, ByteBuffer into) {
    try {
      return from.read(into);
    } catch (IOException _) {
      return -1; // the client has reset the connection
    }
  }

  private void awaitOvertaken(CountDownLatch latch) throws InterruptedException {
    latch.await(MOST_HELD_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void reset() throws IOException {
    for (SocketChannel socket : new SocketChannel[] {client, server}) {
      if (socket.supportedOptions().contains(StandardSocketOptions.SO_LINGER)) {
        socket.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
    }
    end();
  }

  /// One end is gone; the other one hears of it, unless nothing passes any more.
  private void endIfHeard() {
    if (!silent && !held) {
      end();
    }
  }

  private void end() {
    try {
      client.close();
      server.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    overtake();
    closed.countDown();
    end();
  }
}
