package io.penstock.storage.engine;

import io.penstock.check.Checksum;
import io.penstock.storage.engine.EngineFailure.SegmentUnreadableException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import java.io.Closeable;
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
import org.jspecify.annotations.Nullable;

/// The file of a segment, read in pieces from the beginning to the end, each byte once. One thread.
///
/// Bytes that cannot be read fail with a [SegmentUnreadableException]. The bytes before them are available.
public final class SegmentWindow implements AutoCloseable {
  /// The word with which Chronicle ends a file: meta data that is not complete.
  public static final int END_OF_FILE = 0xC000_0000;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  /// Bytes of a piece: small enough to stay in the processor's cache until they are compared.
  public static final int BYTES = 1 << 20;

  /// Bytes of the first piece of a search: the next record is mostly near.
  private static final int FIRST_BYTES = 2 << 10;
  private static final MemorySegment ZEROS = Arena.ofAuto().allocate(BYTES);

  private final Path path;
  private final Source source;
  private final Closeable closing;
  private final long size;
  private final int pieceBytes;
  private int number;
  private long start;
  private int between;
  private Arena arena = Arena.ofConfined();
  private MemorySegment buffer = MemorySegment.NULL;
  private ByteBuffer view = buffer.asByteBuffer();
  private long from;
  private long to;
  private @Nullable HeaderPrefetch prefetch;

  /// The source of the bytes.
  @FunctionalInterface
  interface Source {
    /// Fills the rest of `into` from `at` on. Keeps bytes that were read before a failure.
    void read(long at, ByteBuffer into) throws IOException;
  }

  /// @param closing is closed with this
  SegmentWindow(Path path, long size, Source source, Closeable closing, int pieceBytes) {
    this.path = path;
    this.size = size;
    this.source = source;
    this.closing = closing;
    this.pieceBytes = pieceBytes;
  }

  /// Opens `path` to be read in pieces of [#BYTES].
  public static SegmentWindow open(Path path) {
    return open(path, BYTES);
  }

  /// Opens `path` to be read, at least `pieceBytes` at a time.
  public static SegmentWindow open(Path path, int pieceBytes) {
    try {
      SegmentWindow file = of(path, FileChannel.open(path, StandardOpenOption.READ), pieceBytes);
      file.prefetch = pieceBytes < BYTES ? new HeaderPrefetch(path, file.size) : null;
      return file;
    } catch (IOException e) {
      throw new StorageFailedException("open " + path, e);
    }
  }

  /// An empty window.
  public static SegmentWindow none(Path path) {
    return new SegmentWindow(path, 0, (at, into) -> {}, () -> {}, BYTES);
  }

  /// Reads the open `file`, which is closed with this.
  public static SegmentWindow of(Path path, SeekableByteChannel file) throws IOException {
    return of(path, file, BYTES);
  }

  private static SegmentWindow of(Path path, SeekableByteChannel file, int pieceBytes) throws IOException {
    return new SegmentWindow(path, file.size(), (at, into) -> fill(file, at, into), file, pieceBytes);
  }

  private static void fill(SeekableByteChannel file, long at, ByteBuffer into) throws IOException {
    file.position(at);
    while (into.hasRemaining()) {
      if (file.read(into) < 0) {
        throw new EOFException("file must have " + into.remaining() + " more bytes at " + file.position() + " (was "
            + file.size() + " long)");
      }
    }
  }

  /// @param ofSegment that the file names; 0 if it names none
  /// @param first where the first record may begin
  /// @param bytesBetween of the engine's own before each record
  public SegmentWindow holds(int ofSegment, long first, int bytesBetween) {
    number = ofSegment;
    start = first;
    between = bytesBetween;
    return this;
  }

  /// The segment that the file names; 0 if it names none.
  public int number() {
    return number;
  }

  /// Offset at which the first record may begin.
  public long start() {
    return start;
  }

  /// Bytes of the engine's own before each record.
  public int between() {
    return between;
  }

  /// Whether the engine's word at `at` says that no record begins there.
  public boolean isEnd(long at) {
    int word = between > 0 && size - at >= between ? word(at) : -1;
    return word == 0 || word == END_OF_FILE;
  }

  /// The 4 bytes at `at`.
  public int word(long at) {
    return bytes(at, Integer.BYTES).get(INT, 0);
  }

  /// The walk visits the record at `offset`; prefetches the next ones.
  public void visit(long offset) {
    if (prefetch != null) {
      prefetch.visit(offset);
    }
  }

  /// Length of the file when it was opened.
  public long size() {
    return size;
  }

  /// The bytes from `at` on; valid until the next call.
  ///
  /// @param length bytes, all inside the file
  public MemorySegment bytes(long at, int length) {
    require(at, length);
    return buffer.asSlice(at - from, length);
  }

  /// CRC32C of `length` bytes from `at` on, all inside the file.
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

  /// The first offset of `word` from `start` on, in steps of `step`; -1 if there is none.
  public long find(long word, long start, int step) {
    long at = start;
    for (int piece = FIRST_BYTES; size - at >= Long.BYTES; piece = BYTES) {
      long end = readable(at, (int) Math.min(piece, size - at));
      MemorySegment bytes = bytes(at, (int) (end - at));
      long i = 0;
      for (; i <= bytes.byteSize() - Long.BYTES; i += step) {
        if (bytes.get(LONG, i) == word) {
          return at + i;
        }
      }
      at += i;
    }
    return -1;
  }

  /// Whether all bytes from `start` on are zero.
  public boolean isZero(long start) {
    long at = start;
    for (int piece = Long.BYTES; at < size; piece = BYTES) {
      long end = readable(at, (int) Math.min(piece, size - at));
      if (bytes(at, (int) (end - at)).mismatch(ZEROS.asSlice(0, end - at)) >= 0) {
        return false;
      }
      at = end;
    }
    return true;
  }

  /// The end of the bytes from `at` on that the medium gives, `length` at most; fails if it does not give the first
  /// ones.
  private long readable(long at, int length) {
    try {
      require(at, length);
      return at + length;
    } catch (SegmentUnreadableException e) {
      if (e.offset() - at < Long.BYTES) {
        throw e;
      }
      return e.offset();
    }
  }

  private void move(long at, int length) {
    long kept = at >= from && at < to ? to - at : 0;
    long wanted = Math.min(size - at, Math.max(length, pieceBytes));
    keep(kept, wanted);
    from = at;
    to = at + kept;
    ByteBuffer rest = view.limit((int) wanted).position((int) kept);
    try {
      source.read(to, rest);
      to = at + wanted;
    } catch (IOException e) {
      to = at + rest.position(); // the bytes before are there
      if (at + length > to) {
        throw new SegmentUnreadableException(path, to, e);
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
    if (prefetch != null) {
      prefetch.close();
      prefetch = null;
    }
    try {
      closing.close();
    } catch (IOException e) {
      throw new StorageFailedException("close " + path, e);
    }
  }
}
