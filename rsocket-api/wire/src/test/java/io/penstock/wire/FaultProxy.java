package io.penstock.wire;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Passes one connection on to a node and does to it what a plan says. What was begun stays as it is until the proxy is
/// closed: no end of the connection learns from the proxy's own end that the other one is gone.
final class FaultProxy implements AutoCloseable {
  enum Kind {
    /// Nothing happens.
    NONE,
    /// Both ends hear an orderly end, in the middle of a frame.
    CUT,
    /// Both ends hear a reset.
    RESET,
    /// One end hears the end of its input; what it sends still arrives.
    HALF_CLOSE,
    /// All bytes of both directions vanish from there on, and no end hears of it.
    HALF_OPEN,
    /// Nothing more is taken from either end: their sockets fill.
    FREEZE,
    /// The bytes wait for a while.
    STALL,
    /// One bit is turned over.
    CORRUPT;

    /// Whether every item on the connection must succeed all the same.
    boolean isHarmless() {
      return this == NONE || this == STALL;
    }

    /// Whether both ends hear nothing any more.
    boolean isSilent() {
      return this == HALF_OPEN || this == FREEZE;
    }
  }

  /// @param afterBytes the fault comes with this byte of its direction
  /// @param amount milliseconds of a stall, or which bit is turned over
  record Plan(Kind kind, boolean towardsClient, long afterBytes, int amount) {
    static final Plan NONE = new Plan(Kind.NONE, true, Long.MAX_VALUE, 0);

    /// Any fault, at any magnitude of bytes up to `mostBytes`.
    static Plan random(SplittableRandom random, long mostBytes) {
      Kind kind = Kind.values()[random.nextInt(1, Kind.values().length)];
      long after = (long) Math.pow(mostBytes, random.nextDouble());
      return new Plan(kind, random.nextBoolean(), after, random.nextInt(8, 150));
    }
  }

  private final ServerSocket listening;
  private final int target;
  private final Plan plan;
  private final List<Socket> sockets = new ArrayList<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean silent;
  private volatile boolean fired;

  FaultProxy(int target, Plan plan) {
    this.target = target;
    this.plan = plan;
    try {
      this.listening = new ServerSocket(0, 4, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  Plan plan() {
    return plan;
  }

  /// Whether the plan's byte has come.
  boolean fired() {
    return fired;
  }

  private void accept() {
    try {
      Socket client = kept(listening.accept());
      Socket server = kept(new Socket(InetAddress.getLoopbackAddress(), target));
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      Thread.ofVirtual().start(() -> pump(client, server, false));
      Thread.ofVirtual().start(() -> pump(server, client, true));
    } catch (IOException _) {
      end(); // closed, or the node does not listen
    }
  }

  private Socket kept(Socket socket) throws IOException {
    synchronized (sockets) {
      sockets.add(socket);
    }
    if (closed.getCount() == 0) {
      socket.close();
    }
    return socket;
  }

  private void pump(Socket from, Socket to, boolean towardsClient) {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[16 << 10];
      long passed = 0;
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        int sent = 0;
        if (isDue(towardsClient, passed, n)) {
          fired = true;
          sent = Math.toIntExact(plan.afterBytes() - passed);
          out.write(buffer, 0, sent);
          if (isOverAfterFault(to, buffer, sent)) {
            return;
          }
        }
        if (plan.kind() == Kind.FREEZE && silent) {
          closed.await();
        }
        if (!silent) {
          out.write(buffer, sent, n - sent);
        }
        passed += n;
      }
      endIfHeard();
    } catch (IOException _) {
      endIfHeard();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private boolean isDue(boolean towardsClient, long passed, int next) {
    return plan.kind() != Kind.NONE && plan.towardsClient() == towardsClient && plan.afterBytes() >= passed
        && plan.afterBytes() < passed + next;
  }

  /// Does what the plan says before the byte `at`; true if this direction is over.
  private boolean isOverAfterFault(Socket to, byte[] buffer, int at) throws IOException, InterruptedException {
    switch (plan.kind()) {
      case CUT -> end();
      case RESET -> reset();
      case HALF_CLOSE -> to.shutdownOutput();
      case HALF_OPEN, FREEZE -> silent = true;
      case STALL -> closed.await(plan.amount(), TimeUnit.MILLISECONDS);
      case CORRUPT -> buffer[at] ^= (byte) (1 << plan.amount() % 8);
      case NONE -> throw new AssertionError("a plan without a fault is never due");
    }
    return plan.kind() == Kind.CUT || plan.kind() == Kind.RESET || plan.kind() == Kind.HALF_CLOSE;
  }

  private void reset() throws IOException {
    synchronized (sockets) {
      for (Socket socket : sockets) {
        socket.setSoLinger(true, 0);
      }
    }
    end();
  }

  /// One end is gone; the other one hears of it, unless nothing passes any more.
  private void endIfHeard() {
    if (!silent) {
      end();
    }
  }

  private void end() {
    try {
      synchronized (sockets) {
        for (Socket socket : sockets) {
          socket.close();
        }
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      listening.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    end();
  }
}
