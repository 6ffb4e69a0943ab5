package io.penstock.lab.bench.doors;

import io.penstock.lab.bench.side.WrongBytesException;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// Connections, each with one request at a time, and a few keys of its own.
final class DoorLoad implements AutoCloseable {
  private static final int MOST_BYTES = 128 << 20;
  private static final int MOST_KEYS = 64;
  private static final int PIECE = 256 << 10;

  /// What is asked.
  enum Kind {
    SET, GET, EXISTS
  }

  private final List<One> all = new ArrayList<>();
  private final ExecutorService threads;
  private final Arena memory = Arena.ofShared();

  /// Stores the values, too.
  DoorLoad(int port, int connections, int valueBytes, Kind kind) throws IOException {
    threads = Executors.newFixedThreadPool(connections);
    ByteBuffer value = memory.allocate(Math.max(1, valueBytes)).asByteBuffer();
    byte[] random = new byte[value.capacity()];
    new Random(valueBytes).nextBytes(random);
    value.put(random).flip();
    int keys = Math.clamp(MOST_BYTES / Math.max(1, valueBytes) / connections, 1, MOST_KEYS);
    for (int i = 0; i < connections; i++) {
      One one = new One(port, i, keys, value.duplicate(), memory.allocate(PIECE).asByteBuffer(), kind);
      all.add(one);
      one.fill();
    }
  }

  /// @return requests a second
  double run(Duration time) throws IOException {
    long begun = System.nanoTime();
    long end = begun + time.toNanos();
    List<Callable<Long>> work = all.stream().map(one -> (Callable<Long>) () -> one.run(end)).toList();
    long requests = 0;
    try {
      for (Future<Long> each : threads.invokeAll(work)) {
        requests += each.get();
      }
    } catch (InterruptedException e) {
      throw new IOException("a benchmark must not be interrupted", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof WrongBytesException wrong) {
        throw wrong;
      }
      throw new IOException("a connection failed", e);
    }
    return requests / ((System.nanoTime() - begun) / 1e9);
  }

  /// The wait that 99 of 100 requests of the last run stayed within, in nanoseconds.
  long p99Nanos() {
    long[] waits = all.stream().flatMapToLong(one -> Arrays.stream(one.waits, 0, one.waited)).sorted().toArray();
    return waits[(int) (waits.length * 0.99)];
  }

  @Override
  public void close() {
    threads.close();
    all.forEach(One::close);
    memory.close();
  }

  private static final class One {
    private final SocketChannel channel;
    private final Kind kind;
    private final int keys;
    private final int number;
    private final ByteBuffer value;
    private final ByteBuffer read;
    private final ByteBuffer end = direct("\r\n");
    private int at;
    private long[] waits = new long[1 << 10];
    private int waited;

    One(int port, int number, int keys, ByteBuffer value, ByteBuffer read, Kind kind) throws IOException {
      this.channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      this.number = number;
      this.keys = keys;
      this.kind = kind;
      this.value = value;
      this.read = read;
    }

    private static ByteBuffer direct(String text) {
      byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
      return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    private String key(int index) {
      return "model@%02x@0@%064x".formatted(number, index) + value.capacity();
    }

    void fill() throws IOException {
      for (int i = 0; i < keys; i++) {
        set(key(i));
      }
    }

    long run(long endNanos) throws IOException {
      waited = 0;
      long begun = System.nanoTime();
      do {
        String key = key(at++ % keys);
        switch (kind) {
          case SET -> set(key);
          case GET -> get(key);
          case EXISTS -> {
            write(direct("*2\r\n$6\r\nEXISTS\r\n$" + key.length() + "\r\n" + key + "\r\n"));
            expect(":1\r\n");
          }
        }
        long now = System.nanoTime();
        count(now - begun);
        begun = now;
      } while (begun < endNanos);
      return waited;
    }

    private void count(long nanos) {
      if (waited == waits.length) {
        waits = Arrays.copyOf(waits, 2 * waited);
      }
      waits[waited++] = nanos;
    }

    private void set(String key) throws IOException {
      write(direct("*3\r\n$3\r\nSET\r\n$" + key.length() + "\r\n" + key + "\r\n$" + value.capacity() + "\r\n"),
          value.duplicate(), end.duplicate());
      expect("+OK\r\n");
    }

    private void get(String key) throws IOException {
      write(direct("*2\r\n$3\r\nGET\r\n$" + key.length() + "\r\n" + key + "\r\n"));
      expect("$" + value.capacity() + "\r\n");
      for (int from = 0; from < value.capacity(); from += PIECE) {
        int bytes = Math.min(PIECE, value.capacity() - from);
        if (!take(bytes).equals(value.slice(from, bytes))) {
          throw new WrongBytesException("a value must have the bytes that were stored (had others)");
        }
      }
      expect("\r\n");
    }

    private void expect(String reply) throws IOException {
      requireEqual(text(take(reply.length())), reply);
    }

    private static void requireEqual(String came, String wanted) {
      if (!came.equals(wanted)) {
        throw new WrongBytesException("a reply must be %s (was %s)".formatted(wanted.strip(), came.strip()));
      }
    }

    private static String text(ByteBuffer bytes) {
      return StandardCharsets.ISO_8859_1.decode(bytes).toString();
    }

    private void write(ByteBuffer... parts) throws IOException {
      ByteBuffer last = parts[parts.length - 1];
      while (last.hasRemaining()) {
        channel.write(parts);
      }
    }

    private ByteBuffer take(int bytes) throws IOException {
      read.clear().limit(bytes);
      while (read.hasRemaining()) {
        if (channel.read(read) < 0) {
          throw new EOFException("a connection must stay open (was ended)");
        }
      }
      return read.flip();
    }

    void close() {
      try {
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
