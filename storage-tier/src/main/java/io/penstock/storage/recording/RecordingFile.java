package io.penstock.storage.recording;

import io.penstock.recording.EventCodec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordingFormatException;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Iterator;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/// A recording in one file: gzip of the first line of a recording and its pages, one behind the other. For recordings
/// that are kept, sent or shipped; a folder is for those that are written while things happen.
///
/// [RecordingReader#open] reads it. It is whole or refused: gzip and each page have a checksum. It holds no payloads,
/// so a recording with payloads stays in its folder.
public final class RecordingFile {
  private static final int PAGE_BYTES = 256 << 10;
  private static final int GZIP = 0x8B1F;
  private static final int BUFFER = 32 << 10;

  private RecordingFile() {}

  /// Writes `events` to `file`, in place of a file that is there. The file is there when all of it is.
  ///
  /// @return number of events
  /// @throws IllegalArgumentException if one of them is a payload
  public static long write(Path file, Iterator<RecordedEvent> events) {
    Path folder = file.toAbsolutePath().getParent();
    try {
      if (folder != null) {
        Files.createDirectories(folder);
      }
      Path part = file.resolveSibling(file.getFileName() + ".part");
      try {
        long count;
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(part), BUFFER)) {
          out.write(RecordingWriter.FORMAT.getBytes(StandardCharsets.UTF_8));
          count = pages(events, out);
        }
        Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        return count;
      } finally {
        Files.deleteIfExists(part);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("recording " + file + " cannot be written", e);
    }
  }

  private static long pages(Iterator<RecordedEvent> events, OutputStream out) throws IOException {
    long first = 0;
    int count = 0;
    ByteBuffer page = page(PAGE_BYTES);
    while (events.hasNext()) {
      RecordedEvent event = events.next();
      if (event.kind() == Kind.PAYLOAD) {
        throw new IllegalArgumentException("recording in one file must have no payloads (had one of event " + event
            + ")");
      }
      int most = EventCodec.mostBytes(event) + Page.ALIGNMENT;
      if (page.remaining() < most) {
        first += flush(page, first, count, out);
        count = 0;
        page = page(Math.max(PAGE_BYTES, Page.HEAD_BYTES + most));
      }
      EventCodec.write(event, page);
      count++;
    }
    return first + flush(page, first, count, out);
  }

  private static ByteBuffer page(int bytes) {
    return ByteBuffer.allocate(bytes).position(Page.HEAD_BYTES);
  }

  private static int flush(ByteBuffer page, long first, int count, OutputStream out) throws IOException {
    if (count > 0) {
      MemorySegment sealed = Page.seal(page, MemorySegment.ofArray(page.array()), first, count);
      out.write(page.array(), 0, Math.toIntExact(sealed.byteSize()));
    }
    return count;
  }

  /// Whether `file` is a recording, by its content.
  static boolean isRecording(Path file) {
    if (!Files.isRegularFile(file)) {
      return false;
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] magic = in.readNBytes(2);
      if (magic.length < 2 || ((magic[0] & 0xFF) | (magic[1] & 0xFF) << 8) != GZIP) {
        return false;
      }
    } catch (IOException e) {
      return false; // the reader of it tells why
    }
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file), BUFFER)) {
      return line(in).startsWith(RecordingWriter.FORMAT_NAME);
    } catch (IOException e) {
      return false;
    }
  }

  /// The first line, without its end; at most 80 bytes of it.
  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next >= 0 && next != '\n' && line.length() < 80; next = in.read()) {
      line.append((char) next);
    }
    return line.toString();
  }

  /// Opens `file` at its first page.
  static Pages open(Path file) {
    try {
      InputStream in = new BufferedInputStream(new GZIPInputStream(Files.newInputStream(file), BUFFER), BUFFER);
      try {
        RecordingReader.requireFormat("first line of " + file, line(in));
        return new Pages(file, new DataInputStream(in));
      } catch (RuntimeException | IOException e) {
        in.close();
        throw e;
      }
    } catch (EOFException | ZipException e) {
      throw new RecordingFormatException("file " + file, "a whole recording", e.toString());
    } catch (IOException e) {
      throw new UncheckedIOException("recording " + file + " cannot be read", e);
    }
  }

  /// The pages of an open file. One thread.
  static final class Pages implements AutoCloseable {
    private final Path file;
    private final DataInputStream in;

    private Pages(Path file, DataInputStream in) {
      this.file = file;
      this.in = in;
    }

    /// The next page; null at the end.
    ///
    /// @throws RecordingFormatException if the file is damaged or was cut off
    @Nullable Page next() {
      try {
        byte[] head = in.readNBytes(Page.HEAD_BYTES);
        if (head.length == 0) {
          return null;
        } else if (head.length < Page.HEAD_BYTES) {
          throw new EOFException("a page was cut off");
        }
        int length = Page.length(ByteBuffer.wrap(head));
        byte[] whole = new byte[length];
        System.arraycopy(head, 0, whole, 0, head.length);
        in.readFully(whole, head.length, length - head.length);
        return Page.read(ByteBuffer.wrap(whole));
      } catch (EOFException | ZipException e) {
        throw new RecordingFormatException("file " + file, "a whole recording", e.toString());
      } catch (IOException e) {
        throw new UncheckedIOException("recording " + file + " cannot be read", e);
      }
    }

    @Override
    public void close() {
      try {
        in.close();
      } catch (IOException e) {
        throw new UncheckedIOException("close " + file, e);
      }
    }
  }
}
