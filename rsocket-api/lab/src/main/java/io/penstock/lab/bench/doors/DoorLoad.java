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
  /// A value of 256 KiB comes with its length and its end.
  private static final int PIECE = (256 << 10) + 64;

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

  /// One connection. What it sends and what has to come lies ready, so that the client costs little beside the server.
  private static final class One {
    private static final int FIRST = 0;

    private final SocketChannel channel;
    private final Kind kind;
    private final ByteBuffer read;
    private final ByteBuffer[] ok = {direct("+OK\r\n")};
    private final ByteBuffer[] there = {direct(":1\r\n")};
    private final ByteBuffer[] whole;
    private final ByteBuffer[][] sets;
    private final ByteBuffer[][] questions;
    private int at;
    private long[] waits = new long[1 << 10];
    private int waited;

    One(int port, int number, int keys, ByteBuffer value, ByteBuffer read, Kind kind) throws IOException {
      this.channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      this.kind = kind;
      this.read = read;
      ByteBuffer end = direct("\r\n");
      this.whole = new ByteBuffer[] {direct("$" + value.capacity() + "\r\n"), value.duplicate(), end.duplicate()};
      this.sets = new ByteBuffer[keys][];
      this.questions = new ByteBuffer[keys][];
      for (int i = 0; i < keys; i++) {
        String key = "model@%02x@0@%064x".formatted(number, i) + value.capacity();
        String named = "$" + key.length() + "\r\n" + key + "\r\n";
        sets[i] = new ByteBuffer[] {direct("*3\r\n$3\r\nSET\r\n" + named + "$" + value.capacity() + "\r\n"),
          value.duplicate(), end.duplicate()};
        questions[i] = new ByteBuffer[] {
          direct(kind == Kind.GET ? "*2\r\n$3\r\nGET\r\n" + named : "*2\r\n$6\r\nEXISTS\r\n" + named)};
      }
    }

    private static ByteBuffer direct(String text) {
      byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
      return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    void fill() throws IOException {
      for (ByteBuffer[] set : sets) {
        write(set);
        expect(ok);
      }
    }

    long run(long endNanos) throws IOException {
      waited = 0;
      long begun = System.nanoTime();
      do {
        int key = at++ % sets.length;
        write(kind == Kind.SET ? sets[key] : questions[key]);
        expect(kind == Kind.SET ? ok : kind == Kind.GET ? whole : there);
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

    private void write(ByteBuffer[] parts) throws IOException {
      for (ByteBuffer part : parts) {
        part.rewind();
      }
      ByteBuffer last = parts[parts.length - 1];
      while (last.hasRemaining()) {
        channel.write(parts);
      }
    }

    /// Reads a reply, and compares each byte of it with those of `parts`.
    private void expect(ByteBuffer[] parts) throws IOException {
      long left = 0;
      for (ByteBuffer part : parts) {
        left += part.rewind().remaining();
      }
      for (int part = FIRST; left > 0;) {
        read.clear().limit((int) Math.min(PIECE, left));
        if (part == FIRST && parts[FIRST].position() == 0) {
          receive();
          requireBegin(parts[FIRST]);
        }
        while (read.hasRemaining()) {
          receive();
        }
        left -= read.flip().remaining();
        while (read.hasRemaining()) {
          part += parts[part].hasRemaining() ? 0 : 1;
          requireEqual(parts[part]);
        }
      }
    }

    private void receive() throws IOException {
      if (channel.read(read) < 0) {
        throw new EOFException("a connection must stay open (was ended)");
      }
    }

    /// Another reply may be shorter, so what has come is looked at before the rest is awaited.
    private void requireBegin(ByteBuffer wanted) {
      int bytes = Math.min(read.position(), wanted.remaining());
      if (!read.slice(0, bytes).equals(wanted.slice(0, bytes))) {
        throw new WrongBytesException(
            "a reply must be %s (was %s)".formatted(text(wanted), text(read.slice(0, bytes))));
      }
    }

    private static String text(ByteBuffer bytes) {
      return StandardCharsets.ISO_8859_1.decode(bytes.duplicate()).toString().strip();
    }

    private void requireEqual(ByteBuffer wanted) {
      int bytes = Math.min(read.remaining(), wanted.remaining());
      if (!read.slice(read.position(), bytes).equals(wanted.slice(wanted.position(), bytes))) {
        throw new WrongBytesException("a value must have the bytes that were stored (had others)");
      }
      read.position(read.position() + bytes);
      wanted.position(wanted.position() + bytes);
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
