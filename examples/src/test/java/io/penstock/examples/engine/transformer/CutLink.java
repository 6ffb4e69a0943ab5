package io.penstock.examples.engine.transformer;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/// A port that passes all bytes on to an address until it is cut, with all its connections.
final class CutLink implements AutoCloseable {
  private final ServerSocket server;
  private final String host;
  private final int port;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  private CutLink(String host, int port) throws IOException {
    this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    this.host = host;
    this.port = port;
  }

  /// @param address as `host:port`
  static CutLink to(String address) throws IOException {
    int colon = address.lastIndexOf(':');
    CutLink link = new CutLink(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
    Thread.startVirtualThread(link::accept);
    return link;
  }

  int port() {
    return server.getLocalPort();
  }

  int connections() {
    return sockets.size() / 2;
  }

  private void accept() {
    try {
      while (true) {
        Socket near = server.accept();
        Socket far = new Socket(host, port);
        sockets.addAll(List.of(near, far));
        Thread.startVirtualThread(() -> pass(near, far));
        Thread.startVirtualThread(() -> pass(far, near));
      }
    } catch (IOException e) {
      cut(); // as it is when a test cuts it
    }
  }

  private static void pass(Socket from, Socket to) {
    try (InputStream in = from.getInputStream(); OutputStream out = to.getOutputStream()) {
      in.transferTo(out);
    } catch (IOException e) {
      // the link was cut
    }
  }

  @Override
  public void close() {
    cut();
  }

  void cut() {
    try {
      server.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
