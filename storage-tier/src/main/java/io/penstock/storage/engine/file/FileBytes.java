package io.penstock.storage.engine.file;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/// Reads and writes at a position of a file to the last byte, where a system call may stop early.
final class FileBytes {
  private FileBytes() {}

  /// Fills `into` from `position` on.
  static void read(FileChannel file, long position, MemorySegment into) throws IOException {
    read(file, position, into.asByteBuffer());
  }

  /// Fills the rest of `into` from `position` on.
  static void read(FileChannel file, long position, ByteBuffer into) throws IOException {
    long at = position;
    while (into.hasRemaining()) {
      int count = file.read(into, at);
      if (count < 0) {
        throw new EOFException(
            "file must have " + into.remaining() + " more bytes at " + at + " (was " + file.size() + " long)");
      }
      at += count;
    }
  }

  /// Fills `parts` from `position` on, the last part first.
  static void readFromBehind(FileChannel file, long position, MemorySegment[] parts) throws IOException {
    long at = position;
    for (MemorySegment part : parts) {
      at += part.byteSize();
    }
    for (int i = parts.length - 1; i >= 0; i--) {
      at -= parts[i].byteSize();
      read(file, at, parts[i]);
    }
  }

  static void write(FileChannel file, long position, ByteBuffer from) throws IOException {
    long at = position;
    while (from.hasRemaining()) {
      at += file.write(from, at);
    }
  }

  /// Writes `parts` in turn from `position` on. Moves the position of `file`.
  static void writeAll(FileChannel file, long position, ByteBuffer[] parts) throws IOException {
    long left = 0;
    for (ByteBuffer part : parts) {
      left += part.remaining();
    }
    file.position(position);
    while (left > 0) {
      left -= file.write(parts);
    }
  }
}
