package io.penstock.node.party;

import io.penstock.node.text.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;

/// Two pipes with a [Message] a line. Reading is a thread's whole work, and so is writing: a sender leaves the
/// message in a bounded queue and never waits for the pipe.
///
/// The writer's thread starts with the first message and ends with the line: when the other side is gone, when it does
/// not read what was sent and the queue is full, or when [#listen] returns.
final class ControlLine {
  private static final ObjectReader READER = Json.MAPPER.readerFor(Message.class);
  private static final ObjectWriter WRITER = Json.MAPPER.writerFor(Message.class);

  /// A few messages for each request that may be under way, and some more.
  private static final int MAX_WAITING = 16 * ReplayPace.MAX_CONCURRENCY;
  private final BufferedReader in;
  private final OutputStream out;
  private final BlockingQueue<byte[]> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
  private final Thread writer = Thread.ofPlatform().daemon().name("penstock-control-line").unstarted(this::write);
  private final AtomicBoolean started = new AtomicBoolean();
  private volatile boolean ended;

  ControlLine(InputStream in, OutputStream out) {
    this.in = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    this.out = out;
  }

  /// Hands every message to `listener` until the other side is gone; then returns.
  ///
  /// @throws IOException if a line is no message
  void listen(Consumer<Message> listener) throws IOException {
    try {
      for (String line = read(); line != null; line = read()) {
        listener.accept(READER.readValue(line));
      }
    } finally {
      end();
    }
  }

  /// Leaves `message` for the writer, without waiting; from any thread. False if the other side is gone or does not
  /// read: then the line has ended, and nothing more is sent.
  boolean send(Message message) {
    byte[] line = encoded(message);
    if (!ended && !waiting.offer(line)) {
      end();
    }
    if (!ended && started.compareAndSet(false, true)) {
      writer.start();
    }
    return !ended;
  }

  private void end() {
    ended = true;
    writer.interrupt(); // a write that the pipe holds up ends with the process at its other end
  }

  /// The writer's work.
  private void write() {
    try {
      while (!ended) {
        out.write(waiting.take());
        if (waiting.isEmpty()) {
          out.flush();
        }
      }
    } catch (IOException e) {
      ended = true; // the other side is gone, as the end of the other pipe tells the reader
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // as end() asks for
    }
  }

  /// The next line; null at the end, also when the pipe broke because the other side died.
  private @Nullable String read() {
    try {
      return in.readLine();
    } catch (IOException e) {
      return null;
    }
  }

  private static byte[] encoded(Message message) {
    try {
      return (WRITER.writeValueAsString(message) + "\n").getBytes(StandardCharsets.UTF_8);
    } catch (JacksonException e) {
      throw new IllegalStateException("a message must have a JSON form (was " + message + ")", e);
    }
  }
}
