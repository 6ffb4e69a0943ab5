package io.penstock.wire;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/// A link between client and server that can do what links do: break, flip a bit, stand still.
final class Relay implements AutoCloseable {
  /// What happens when so many bytes have passed in one direction.
  record Fault(boolean towardsClient, long afterBytes, boolean flips) {
    static Fault none() {
      return new Fault(true, Long.MAX_VALUE, false);
    }
  }

  private static final int LONGEST = 8192;

  private final ServerSocket listening;
  private final int target;
  private final Fault fault;
  private final CountDownLatch gate;
  /// Most bytes that pass at once.
  private final IntSupplier most;
  private final AtomicLong towardsClient = new AtomicLong();
  private final AtomicLong towardsServer = new AtomicLong();

  private Relay(int target, Fault fault, boolean stalled, IntSupplier most) throws IOException {
    this.most = most;
    this.target = target;
    this.fault = fault;
    this.gate = new CountDownLatch(stalled ? 1 : 0);
    this.listening = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  static Relay to(int port, Fault fault) {
    return to(port, fault, false);
  }

  /// @param stalled nothing reaches the client after 64 KiB, until [#flow()]
  static Relay to(int port, Fault fault, boolean stalled) {
    return to(port, fault, stalled, () -> LONGEST);
  }

  /// A link on which bytes come in parts of any length.
  static Relay cutting(int port, long seed) {
    Random random = new Random(seed);
    return to(port, Fault.none(), false, () -> random.nextInt(1, random.nextBoolean() ? 100 : LONGEST));
  }

  private static Relay to(int port, Fault fault, boolean stalled, IntSupplier most) {
    try {
      return new Relay(port, fault, stalled, most);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  int port() {
    return listening.getLocalPort();
  }

  long bytesTowardsClient() {
    return towardsClient.get();
  }

  long bytesTowardsServer() {
    return towardsServer.get();
  }

  void flow() {
    gate.countDown();
  }

  private void accept() {
    try {
      while (!listening.isClosed()) {
        Socket client = listening.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        Thread.ofVirtual().start(() -> pump(client, server, false, towardsServer));
        Thread.ofVirtual().start(() -> pump(server, client, true, towardsClient));
      }
    } catch (IOException e) {
      close(); // the end of the test
    }
  }

  private void pump(Socket from, Socket to, boolean back, AtomicLong passed) {
    try (from; to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[LONGEST];
      for (int n = in.read(buffer, 0, most.getAsInt()); n >= 0; n = in.read(buffer, 0, most.getAsInt())) {
        if (back && passed.get() > 64 << 10) {
          gate.await();
        }
        long before = passed.getAndAdd(n);
        if (fault.towardsClient() == back && before + n > fault.afterBytes() && before <= fault.afterBytes()) {
          int at = (int) (fault.afterBytes() - before);
          if (!fault.flips()) {
            out.write(buffer, 0, at);
            return;
          }
          buffer[at] ^= 0x10;
        }
        out.write(buffer, 0, n);
      }
    } catch (IOException | InterruptedException e) {
      close(); // one of the two is gone, and so is the link
    }
  }

  @Override
  public void close() {
    try {
      listening.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
