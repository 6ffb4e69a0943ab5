package io.penstock.node.replay;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Two pipes with a [Message] a line. Reading is a thread's whole work; writing waits for the pipe, so it is not for an event loop
/// unless the other side reads eagerly, which every party does.
final class ControlLine {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final ObjectReader READER = JSON.readerFor(Message.class);
  private static final ObjectWriter WRITER = JSON.writerFor(Message.class);

  private final BufferedReader in;
  private final OutputStream out;

  ControlLine(InputStream in, OutputStream out) {
    this.in = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    this.out = out;
  }

  /// Hands every message to `listener` until the other side is gone; then returns.
  ///
  /// @throws IOException if a line is no message
  void listen(Consumer<Message> listener) throws IOException {
    for (String line = read(); line != null; line = read()) {
      listener.accept(READER.readValue(line));
    }
  }

  /// Sends `message`; false if the other side is gone.
  boolean send(Message message) {
    byte[] line = encoded(message);
    synchronized (this) {
      try {
        out.write(line);
        out.flush();
        return true;
      } catch (IOException e) {
        return false;
      }
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
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a message must have a JSON form (was " + message + ")", e);
    }
  }
}
