package io.penstock.storage.engine;

import io.penstock.block.Checksum;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/// A file of a journal, read from its beginning to its end in large pieces, each byte once. One thread.
///
/// What cannot be read ends in a [SegmentUnreadableException]; whatever lies before it can be had all the same.
public final class SegmentWindow implements AutoCloseable {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  /// Bytes of a piece: what was read is still in the processor's own cache when it is compared.
  public static final int BYTES = 1 << 20;

  private final Path path;
  private final SeekableByteChannel file;
  private final long size;
  private Arena arena = Arena.ofConfined();
  private MemorySegment buffer = MemorySegment.NULL;
  private ByteBuffer view = buffer.asByteBuffer();
  private long from;
  private long to;

  private SegmentWindow(Path path, SeekableByteChannel file, long size) {
    this.path = path;
    this.file = file;
    this.size = size;
  }

  /// Opens `path` to be read.
  public static SegmentWindow open(Path path) {
    try {
      return of(path, FileChannel.open(path, StandardOpenOption.READ));
    } catch (IOException e) {
      throw new StorageFailedException("open " + path, e);
    }
  }

  /// The same of the open `file`, which is closed with this.
  public static SegmentWindow of(Path path, SeekableByteChannel file) throws IOException {
    return new SegmentWindow(path, file, file.size());
  }

  Path path() {
    return path;
  }

  /// Length of the file when it was opened.
  public long size() {
    return size;
  }

  /// The bytes of the file from `at` on, until the next call.
  ///
  /// @param length bytes, all of which lie in the file
  public MemorySegment bytes(long at, int length) {
    require(at, length);
    return buffer.asSlice(at - from, length);
  }

  /// CRC32C of the `length` bytes from `at` on, all of which lie in the file.
  public int crc(long at, int length) {
    require(at, length);
    int begin = (int) (at - from);
    return Checksum.of(view.limit(begin + length).position(begin));
  }

  private void require(long at, int length) {
    Objects.checkFromIndexSize(at, length, size);
    if (at < from || at + length > to) {
      move(at, length);
    }
  }

  /// Where `word` lies first in `[start, end)`, at a multiple of `step` from `start`; 0 if it does not.
  public long find(long word, long start, long end, int step) {
    long at = start;
    while (end - at >= Long.BYTES) {
      int length = (int) Math.min(BYTES, end - at);
      MemorySegment piece = bytes(at, length);
      int i = 0;
      for (; i <= length - Long.BYTES; i += step) {
        if (piece.get(LONG, i) == word) {
          return at + i;
        }
      }
      at += i;
    }
    return 0;
  }

  /// Whether all bytes from `start` on are zero.
  public boolean isZero(long start) {
    for (long at = start; at < size; at += BYTES) {
      MemorySegment piece = bytes(at, (int) Math.min(BYTES, size - at));
      long words = piece.byteSize() & -Long.BYTES;
      for (long i = 0; i < words; i += Long.BYTES) {
        if (piece.get(LONG, i) != 0) {
          return false;
        }
      }
      for (long i = words; i < piece.byteSize(); i++) {
        if (piece.get(ValueLayout.JAVA_BYTE, i) != 0) {
          return false;
        }
      }
    }
    return true;
  }

  /// One past the last byte from `start` on that is not zero; `start` if all are.
  public long endOfData(long start) {
    long end = start;
    for (long at = start; at < size; at += BYTES) {
      MemorySegment piece = bytes(at, (int) Math.min(BYTES, size - at));
      for (long i = piece.byteSize() - 1; i >= 0; i--) {
        if (piece.get(ValueLayout.JAVA_BYTE, i) != 0) {
          end = at + i + 1;
          break;
        }
      }
    }
    return end;
  }

  private void move(long at, int length) {
    long kept = at >= from && at < to ? to - at : 0;
    long wanted = Math.min(size - at, Math.max(length, BYTES));
    keep(kept, wanted);
    from = at;
    to = at + kept;
    ByteBuffer rest = view.limit((int) wanted).position((int) kept);
    try {
      fill(to, rest);
      to = at + wanted;
    } catch (IOException e) {
      to = at + rest.position(); // what came before is there
      if (at + length > to) {
        throw new SegmentUnreadableException(path, to, e);
      }
    }
  }

  private void fill(long at, ByteBuffer rest) throws IOException {
    file.position(at);
    while (rest.hasRemaining()) {
      if (file.read(rest) < 0) {
        throw new EOFException("file must have " + rest.remaining() + " more bytes at " + file.position() + " (was "
            + file.size() + " long)");
      }
    }
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
    view = buffer.asByteBuffer();
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
