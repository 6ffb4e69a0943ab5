package io.penstock.storage.engine;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/// A file of a journal, read from its beginning to its end in large pieces, each byte once. One thread.
public final class SegmentWindow implements AutoCloseable {
  private static final int BYTES = 4 << 20;

  private final Path path;
  private final FileChannel file;
  private final long size;
  private Arena arena = Arena.ofConfined();
  private MemorySegment buffer = MemorySegment.NULL;
  private long from;
  private long to;

  private SegmentWindow(Path path, FileChannel file, long size) {
    this.path = path;
    this.file = file;
    this.size = size;
  }

  /// Opens `path` to be read.
  public static SegmentWindow open(Path path) {
    try {
      FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
      return new SegmentWindow(path, file, file.size());
    } catch (IOException e) {
      throw new StorageFailedException("open " + path, e);
    }
  }

  /// Length of the file when it was opened.
  public long size() {
    return size;
  }

  /// The bytes of the file from `at` on, until the next call.
  ///
  /// @param length bytes, all of which lie in the file
  public MemorySegment bytes(long at, int length) {
    Objects.checkFromIndexSize(at, length, size);
    if (at < from || at + length > to) {
      move(at, length);
    }
    return buffer.asSlice(at - from, length);
  }

  private void move(long at, int length) {
    long kept = at >= from && at < to ? to - at : 0;
    long wanted = Math.min(size - at, Math.max(length, BYTES));
    keep(kept, wanted);
    from = at;
    to = at; // nothing, should the read fail
    try {
      Transfer.read(file, at + kept, buffer.asSlice(kept, wanted - kept).asByteBuffer());
    } catch (IOException e) {
      throw new StorageFailedException("read " + path + " at " + at, e);
    }
    to = at + wanted;
  }

  /// Moves the last `kept` bytes to the front of a buffer with room for `wanted`.
  private void keep(long kept, long wanted) {
    MemorySegment last = buffer.asSlice(kept == 0 ? 0 : to - from - kept, kept);
    if (wanted <= buffer.byteSize()) {
      buffer.copyFrom(last);
      return;
    }
    Arena next = Arena.ofConfined();
    buffer = next.allocate(wanted, 8).copyFrom(last);
    arena.close();
    arena = next;
  }

  @Override
  public void close() {
    arena.close();
    try {
      file.close();
    } catch (IOException e) {
      throw new StorageFailedException("close " + path, e);
    }
  }
}
