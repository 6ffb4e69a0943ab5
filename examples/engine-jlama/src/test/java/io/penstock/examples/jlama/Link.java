package io.penstock.examples.jlama;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;

/// A link between an engine and its node that holds bytes back, or flips one, on their way to the engine.
final class Link implements AutoCloseable {
  private static final int NEVER = Integer.MAX_VALUE;

  private final ServerSocket listening;
  private final int node;
  private final long holdsAt;
  private final long flipsAt;
  private final CountDownLatch gate = new CountDownLatch(1);

  private Link(String node, long holdsAt, long flipsAt) throws IOException {
    this.node = Integer.parseInt(node.substring(node.lastIndexOf(':') + 1));
    this.holdsAt = holdsAt;
    this.flipsAt = flipsAt;
    this.listening = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  /// After `bytes` towards the engine nothing passes until [#open].
  static Link thatHolds(String node, long bytes) throws IOException {
    return new Link(node, bytes, NEVER);
  }

  /// One bit of byte `at` towards the engine is flipped.
  static Link thatFlips(String node, long at) throws IOException {
    return new Link(node, NEVER, at);
  }

  String address() {
    return "127.0.0.1:" + listening.getLocalPort();
  }

  void open() {
    gate.countDown();
  }

  private void accept() {
    try {
      while (!listening.isClosed()) {
        Socket engine = listening.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), node);
        Thread.ofVirtual().start(() -> pump(engine, server, NEVER, NEVER));
        Thread.ofVirtual().start(() -> pump(server, engine, holdsAt, flipsAt));
      }
    } catch (IOException e) {
      open(); // the end of the test
    }
  }

  private void pump(Socket from, Socket to, long holds, long flips) {
    try (from; to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[4096];
      long passed = 0;
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (passed + n > holds) {
          gate.await();
        }
        if (flips >= passed && flips < passed + n) {
          buffer[(int) (flips - passed)] ^= 0x10;
        }
        passed += n;
        out.write(buffer, 0, n);
      }
    } catch (IOException | InterruptedException e) {
      open(); // one of the two is gone, and so is the link
    }
  }

  @Override
  public void close() throws IOException {
    open();
    listening.close();
  }
}
