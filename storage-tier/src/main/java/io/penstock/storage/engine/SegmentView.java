package io.penstock.storage.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A mapping of a file, for those of its bytes that the system has in memory: these are copied from it, for less than a
/// positioned read costs.
///
/// A page is touched only after the system said that it is there, and while this journal lets none go, so no copy waits
/// for the medium here. Should the system itself take one in between, and the medium fail to give it back, then the
/// copy fails, and nothing else: it is the one access to mapped memory that the JVM guards. After a no the reader takes
/// the positioned read, which waits, and says what is wrong.
final class SegmentView implements AutoCloseable {
  /// As much is asked for, and copied, at a time.
  private static final int PIECE_BYTES = 1 << 20;

  private final FileChannel file;
  /// Its end costs all threads a moment, so there is none before it is needed.
  @GuardedBy("this") private @Nullable Arena arena;
  /// The newest, and those that it took the place of.
  @GuardedBy("this") private final List<MemorySegment> mappings = new ArrayList<>(1);
  private volatile MemorySegment mapped = MemorySegment.NULL;
  private volatile boolean grows;
  private volatile boolean refused;
  /// Those who ask whether pages are there, and copy them.
  private final Copiers copiers = new Copiers();

  /// @param grows whether the file becomes longer
  SegmentView(FileChannel file, boolean grows) {
    this.file = file;
    this.grows = grows;
  }

  /// The file has its length.
  void grown() {
    grows = false;
  }

  /// Whether it can be said of the bytes before `end` if they are in memory.
  boolean covers(long end) {
    return end <= mapped.byteSize();
  }

  /// Fills `parts`, one after the other, from `offset` on if all of these bytes are in memory.
  ///
  /// @return false if they are not, or cannot be mapped; the parts may have anything then
  boolean read(long offset, MemorySegment[] parts) throws IOException {
    long length = RecordParts.bytes(parts);
    MemorySegment bytes = mapped(offset + length);
    if (bytes == null) {
      return false;
    }
    try {
      return length <= PIECE_BYTES ? copied(bytes, offset, length, parts) : copiedInPieces(bytes, offset, parts);
    } catch (InternalError e) { // a page is gone: the positioned read tells why
      return false;
    }
  }

  /// False also while pages are let go: they may be these.
  private boolean copied(MemorySegment from, long offset, long length, MemorySegment[] parts) {
    int counter = copiers.enter();
    if (counter < 0) {
      return false;
    }
    try {
      if (!from.asSlice(offset, length).isLoaded()) {
        return false;
      }
      long at = offset;
      for (MemorySegment part : parts) {
        MemorySegment.copy(from, at, part, 0, part.byteSize());
        at += part.byteSize();
      }
      return true;
    } finally {
      copiers.leave(counter);
    }
  }

  private boolean copiedInPieces(MemorySegment from, long offset, MemorySegment[] parts) {
    long at = offset;
    for (MemorySegment part : parts) {
      for (long done = 0; done < part.byteSize(); done += PIECE_BYTES) {
        MemorySegment piece = part.asSlice(done, Math.min(PIECE_BYTES, part.byteSize() - done));
        if (!copied(from, at + done, piece.byteSize(), new MemorySegment[] {piece})) {
          return false;
        }
      }
      at += part.byteSize();
    }
    return true;
  }

  private @Nullable MemorySegment mapped(long bytes) throws IOException {
    MemorySegment have = mapped;
    if (bytes <= have.byteSize()) {
      return have;
    }
    return refused ? null : mapMore(bytes);
  }

  /// A file that grows is mapped anew whenever it is longer by a quarter; the older mappings stay until the end.
  private synchronized @Nullable MemorySegment mapMore(long bytes) throws IOException {
    long have = mapped.byteSize();
    long size = file.size();
    if (bytes > have && size >= bytes && (!grows || size - have >= have / 4)) {
      map(size);
    }
    return bytes <= mapped.byteSize() ? mapped : null;
  }

  private synchronized void map(long size) {
    Arena all = arena == null ? Arena.ofShared() : arena;
    arena = all;
    try {
      mapped = file.map(FileChannel.MapMode.READ_ONLY, 0, size, all);
      mappings.add(mapped);
    } catch (IOException | OutOfMemoryError e) { // no room among the addresses: positioned reads do without
      refused = true;
    }
  }

  /// Has the system let go of the pages of `path`, the file, from `from` to `to`; no thread copies meanwhile. A read
  /// has them mapped again.
  void letGo(Path path, long from, long to) throws IOException {
    copiers.shutOut();
    try {
      unmap(from, to);
      NativePages.letGo(path, from, to);
    } finally {
      copiers.readmit();
    }
  }

  private synchronized void unmap(long from, long to) {
    for (MemorySegment each : mappings) {
      long end = Math.min(to, each.byteSize());
      long first = NativePages.pageOf(from);
      if (end > first) {
        NativePages.unmap(each.address() + first, end - first);
      }
    }
  }

  /// No thread reads any more.
  @Override
  public synchronized void close() {
    if (arena != null) {
      arena.close();
    }
  }
}
