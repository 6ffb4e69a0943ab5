package io.penstock.node.trace;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/// Cuts a stream of bytes into lines, none longer than a limit: a file without line ends cannot fill the memory.
final class LineReader implements AutoCloseable {
  private final InputStream in;
  private final int maxLineBytes;
  private final byte[] chunk = new byte[64 << 10];
  private int at;
  private int end;
  private byte[] line = new byte[4 << 10];
  private int length;

  LineReader(InputStream in, int maxLineBytes) {
    this.in = in;
    this.maxLineBytes = maxLineBytes;
  }

  /// Reads the next line; false after the last one.
  boolean next() throws IOException {
    length = 0;
    boolean any = false;
    while (at < end || fill()) {
      any = true;
      int stop = at;
      while (stop < end && chunk[stop] != '\n') {
        stop++;
      }
      append(stop);
      if (stop < end) {
        at = stop + 1;
        return true;
      }
      at = end;
    }
    return any;
  }

  /// The line, without its end; valid until the next call of [#next()].
  byte[] bytes() {
    return line;
  }

  int length() {
    return length;
  }

  /// True when the line was cut because it is longer than the limit.
  boolean isTooLong() {
    return length > maxLineBytes;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }

  private boolean fill() throws IOException {
    at = 0;
    end = Math.max(0, in.read(chunk));
    return end > 0;
  }

  private void append(int stop) {
    int count = Math.min(stop - at, maxLineBytes + 1 - length);
    if (length + count > line.length) {
      line = Arrays.copyOf(line, Math.max(2 * line.length, length + count));
    }
    System.arraycopy(chunk, at, line, length, count);
    length += count;
  }
}
