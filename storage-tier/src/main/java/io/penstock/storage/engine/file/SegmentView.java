package io.penstock.storage.engine.file;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.storage.engine.NativePages;
import io.penstock.storage.engine.RecordParts;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A mapping of a file. Bytes that the system has in memory are copied from it, which costs less than a positioned
/// read.
///
/// A copy touches a page only after the system said that the page is in memory, and while this journal lets none go. So
/// no copy waits for the medium. If the system itself drops a page in between, and the medium does not give it back,
/// only the copy fails: the JVM guards this access to mapped memory. The reader then takes a positioned read, which
/// waits, and tells what is wrong.
final class SegmentView implements AutoCloseable {
  /// Maximum bytes that are checked and copied at a time.
  private static final int PIECE_BYTES = 1 << 20;

  private final FileChannel file;
  /// Made when needed, since its close stops all threads for a moment.
  @GuardedBy("this") private @Nullable Arena arena;
  /// The mappings, oldest first.
  @GuardedBy("this") private final List<MemorySegment> mappings = new ArrayList<>(1);
  private volatile MemorySegment mapped = MemorySegment.NULL;
  private volatile boolean grows;
  private volatile boolean refused;
  /// Threads that copy.
  private final Copiers copiers = new Copiers();

  /// @param grows whether the file still grows
  SegmentView(FileChannel file, boolean grows) {
    this.file = file;
    this.grows = grows;
  }

  /// Records that the file grows no more.
  void grown() {
    grows = false;
  }

  /// Whether the bytes before `end` are mapped.
  boolean covers(long end) {
    return end <= mapped.byteSize();
  }

  /// Fills `parts` in turn from `offset` on, if all of these bytes are in memory.
  ///
  /// @return false if they are not, or cannot be mapped; the parts are undefined then
  boolean read(long offset, MemorySegment[] parts) throws IOException {
    long length = RecordParts.bytes(parts);
    MemorySegment bytes = mapped(offset + length);
    if (bytes == null) {
      return false;
    }
    try {
      return length <= PIECE_BYTES ? copied(bytes, offset, length, parts) : copiedInPieces(bytes, offset, parts);
    } catch (InternalError e) { // a page is gone: the positioned read will tell why
      return false;
    }
  }

  /// False also while another thread lets pages go.
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

  /// Maps a growing file again when it is longer by a quarter. Older mappings stay until the end.
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
    } catch (IOException | OutOfMemoryError e) { // no address space: positioned reads do without
      refused = true;
    }
  }

  /// Releases the pages of the file from `from` to `to`, while no thread copies. A read maps them again.
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

  /// Unmaps the file; no thread reads any more.
  @Override
  public synchronized void close() {
    if (arena != null) {
      arena.close();
    }
  }
}
