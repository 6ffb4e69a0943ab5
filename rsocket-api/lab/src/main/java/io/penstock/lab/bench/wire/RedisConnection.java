package io.penstock.lab.bench.wire;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/// One connection to a Redis server, in its protocol RESP2. Values are received in native memory that is reused. For
/// one thread.
final class RedisConnection implements Closeable {
  private static final int BUFFER_BYTES = 1 << 20;

  private final SocketChannel channel;
  private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES).flip();

  RedisConnection(SocketAddress address) throws IOException {
    this.channel = SocketChannel.open(address);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  void ping() throws IOException {
    send(command("PING"));
    requireAnswer("+PONG");
  }

  /// Forgets all values.
  void flush() throws IOException {
    send(command("FLUSHALL"));
    requireAnswer("+OK");
  }

  /// Stores values of `bytes` bytes under the names of `0 … count`.
  void fill(int count, int bytes) throws IOException {
    String value = "v".repeat(bytes);
    for (int i = 0; i < count; i++) {
      send(command("SET", name(i), value));
      requireAnswer("+OK");
    }
  }

  /// Reads `count` values from `first` on, asked for at once.
  ///
  /// @return bytes of the values
  long get(int first, int count, int bytes) throws IOException {
    StringBuilder questions = new StringBuilder();
    for (int i = first; i < first + count; i++) {
      questions.append(command("GET", name(i)));
    }
    send(questions.toString());
    for (int i = 0; i < count; i++) {
      requireAnswer("$" + bytes);
      skip(bytes);
      requireAnswer("");
    }
    return (long) count * bytes;
  }

  private static String name(int number) {
    return "block:" + number;
  }

  private static String command(String... words) {
    StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
    }
    return text.toString();
  }

  private void send(String text) throws IOException {
    ByteBuffer out = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    while (out.hasRemaining()) {
      channel.write(out);
    }
  }

  private void requireAnswer(String wanted) throws IOException {
    StringBuilder line = new StringBuilder();
    for (char next = next(); next != '\r'; next = next()) {
      line.append(next);
    }
    next(); // the line feed
    if (!wanted.contentEquals(line)) {
      throw new IOException("redis must answer " + wanted + " (was " + line + ")");
    }
  }

  private char next() throws IOException {
    if (!in.hasRemaining()) {
      receive();
    }
    return (char) in.get();
  }

  private void skip(int bytes) throws IOException {
    for (int left = bytes; left > 0;) {
      if (!in.hasRemaining()) {
        receive();
      }
      int some = Math.min(left, in.remaining());
      in.position(in.position() + some);
      left -= some;
    }
  }

  private void receive() throws IOException {
    in.clear();
    if (channel.read(in) < 0) {
      throw new EOFException("redis closed the connection");
    }
    in.flip();
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
