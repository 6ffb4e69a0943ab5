package io.penstock.node.content;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/// Reads and writes whole buffers.
public final class Channel {
  private Channel() {}

  public static void writeAll(WritableByteChannel to, ByteBuffer bytes) {
    try {
      while (bytes.hasRemaining()) {
        to.write(bytes);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Reads until `bytes` is full or the source ends. Returns the number of bytes read.
  static int readFully(ReadableByteChannel from, ByteBuffer bytes) throws IOException {
    int before = bytes.position();
    int read = 0;
    while (bytes.hasRemaining() && read >= 0) {
      read = from.read(bytes);
    }
    return bytes.position() - before;
  }

  /// Takes everything and keeps nothing.
  public static WritableByteChannel nowhere() {
    return Channels.newChannel(OutputStream.nullOutputStream());
  }
}
