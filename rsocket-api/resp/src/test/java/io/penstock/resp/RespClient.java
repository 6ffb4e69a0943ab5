package io.penstock.resp;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A connection that sends and reads bytes.
final class RespClient implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 120_000;
  private static final int SMALL_WINDOW = 8 << 10;

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;

  RespClient(int port) throws IOException {
    this(new Socket("127.0.0.1", port));
  }

  RespClient(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(PATIENCE_MILLIS);
    in = new BufferedInputStream(socket.getInputStream(), 64 << 10);
    out = socket.getOutputStream();
  }

  /// A client whose system holds few bytes that it has not read.
  static RespClient withSmallWindow(int port) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(SMALL_WINDOW);
    socket.connect(new InetSocketAddress("127.0.0.1", port));
    return new RespClient(socket);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /// A request of `arguments`, each a text of one character a byte, or bytes.
  static byte[] request(Object... arguments) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(bytes("*" + arguments.length + "\r\n"));
    for (Object argument : arguments) {
      byte[] one = argument instanceof byte[] given ? given : bytes(argument.toString());
      all.writeBytes(bytes("$" + one.length + "\r\n"));
      all.writeBytes(one);
      all.writeBytes(bytes("\r\n"));
    }
    return all.toByteArray();
  }

  static byte[] join(byte[] first, byte[] second) {
    byte[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }

  RespClient send(byte[] bytes) throws IOException {
    return send(bytes, 0, bytes.length);
  }

  RespClient send(byte[] bytes, int from, int to) throws IOException {
    out.write(bytes, from, to - from);
    return this;
  }

  /// Reads `count` bytes, or fewer if the connection ends before.
  byte[] read(int count) throws IOException {
    return in.readNBytes(count);
  }

  /// Reads as many bytes as `into` has, or fewer if the connection ends before.
  ///
  /// @return how many came
  int read(byte[] into) throws IOException {
    return in.readNBytes(into, 0, into.length);
  }

  String text(int count) throws IOException {
    return new String(read(count), StandardCharsets.ISO_8859_1);
  }

  /// Reads to the end of a line, which is left out; `(end)` and what came where the connection ended.
  String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int each = in.read(); each >= 0; each = in.read()) {
      line.write(each);
      if (each == '\n') {
        String text = line.toString(StandardCharsets.ISO_8859_1);
        return text.substring(0, text.length() - 2);
      }
    }
    return "(end)" + line.toString(StandardCharsets.ISO_8859_1);
  }

  /// Sends a request and reads a reply of one line.
  String call(Object... arguments) throws IOException {
    return send(request(arguments)).line();
  }

  /// Sends a request and reads a bulk string; null for none.
  byte @Nullable [] bulk(Object... arguments) throws IOException {
    String header = call(arguments);
    if (header.equals("$-1") || header.equals("_")) {
      return null;
    }
    byte[] bytes = read(Integer.parseInt(header.substring(1)));
    read(2);
    return bytes;
  }

  /// The names that SCAN tells, in the order of its pages.
  List<String> scan() throws IOException {
    List<String> all = new ArrayList<>();
    String cursor = "0";
    do {
      call("SCAN", cursor, "COUNT", "10");
      line();
      cursor = line();
      int count = Integer.parseInt(line().substring(1));
      for (int i = 0; i < count; i++) {
        all.add(text(Integer.parseInt(line().substring(1))));
        read(2);
      }
    } while (!cursor.equals("0"));
    return all;
  }

  /// Whether nothing comes any more, and the connection has ended.
  boolean isEnded() throws IOException {
    try {
      return in.read() < 0;
    } catch (SocketException e) { // reset
      return true;
    }
  }

  /// Sends no more.
  void endSending() throws IOException {
    socket.shutdownOutput();
  }

  /// Ends the connection as a process that is killed does.
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
