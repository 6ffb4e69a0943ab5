package io.penstock.node.content;

import io.penstock.PermanentKvException;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.text.Reason;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The bytes of standard input or of a pipe in a temporary file, for the length of a value goes before its bytes.
/// Closing it deletes the file.
public final class WholeInput implements AutoCloseable {
  private static final int STEP_BYTES = 1 << 16;

  private final TemporaryFolder place;

  private WholeInput(TemporaryFolder place) {
    this.place = place;
  }

  /// More bytes came than a value may have.
  public static final class InputTooLongException extends PermanentKvException {
    InputTooLongException(Bound bound, long bytes) {
      super("value %s must be <= %d bytes, the longest that space %s takes (was %d so far, from %s)"
          .formatted(bound.value, bound.mostBytes, bound.space, bytes, bound.source));
    }
  }

  /// How much may come, with the words for a complaint.
  ///
  /// @param source such as standard input
  public record Bound(String value, String space, String source, long mostBytes) {}

  /// Reads `from` up to its end.
  ///
  /// @param from stays open
  /// @param parent of the temporary folder; null for where the system has such folders
  /// @throws InputTooLongException as soon as too much has come; nothing stays of it
  public static WholeInput of(InputStream from, Bound bound, @Nullable Path parent) throws IOException {
    WholeInput whole = new WholeInput(TemporaryFolder.in(parent, "penstock-put-"));
    boolean isRead = false;
    try {
      whole.read(from, bound);
      isRead = true;
      return whole;
    } finally {
      if (!isRead) {
        whole.close();
      }
    }
  }

  private void read(InputStream from, Bound bound) throws IOException {
    byte[] step = new byte[STEP_BYTES];
    long bytes = 0;
    try (OutputStream to = Files.newOutputStream(file())) {
      for (int read = from.read(step); read >= 0; read = from.read(step)) {
        bytes += read;
        if (bytes > bound.mostBytes) {
          throw new InputTooLongException(bound, bytes);
        }
        write(to, step, read, bound);
      }
    }
  }

  private void write(OutputStream to, byte[] step, int count, Bound bound) throws IOException {
    try {
      to.write(step, 0, count);
    } catch (IOException e) {
      throw new IOException(Reason.after("%s must have room for all of %s (had room for %d bytes)"
          .formatted(place.path().getParent(), bound.source, Files.size(file())), e), e);
    }
  }

  public Path file() {
    return place.path().resolve("value");
  }

  @Override
  public void close() {
    place.close();
  }
}
