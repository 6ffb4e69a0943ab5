package io.penstock.storage.engine;

import io.penstock.block.Owned;
import io.penstock.storage.engine.EngineFailure.EngineClosedException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.engine.EngineFailure.UnknownLocationException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A log of records in numbered segments: append a record and get its location, read the bytes at a location.
///
/// | | |
/// |---|---|
/// | threads | [#append], [#roll] and [#delete] take turns, best on one thread; other calls run in parallel on any |
/// | blocking | every call may wait for the disk: never on an event loop, and never interrupt its thread |
/// | memory | records are written from, and read into, native memory; no copy is made on the heap |
/// | segments | begun when needed, ended by [#roll] or when a record does not fit; never continued after a restart |
/// | errors | [EngineClosedException] after [#close]; [StorageFailedException] when the medium fails |
public interface SegmentEngine extends AutoCloseable {
  /// Lengths of records are multiples of this: no engine pads.
  int RECORD_ALIGNMENT = 8;

  /// Short name, as in options and in the directory's format file.
  String name();

  /// The folder for small files next to the segments; null if there is none.
  default @Nullable Path directory() {
    return null;
  }

  /// Longest record.
  int maxRecordBytes();

  /// The segment of the next record if that has `length` bytes; begins one if necessary. Valid until another thread
  /// rolls.
  ///
  /// @throws StorageFullException if there is no room for another segment
  int segmentFor(int length);

  /// Appends `parts`, one after the other, as one record. When this returns, the operating system has the bytes: they
  /// survive the end of the process, but the end of the machine only after [#sync].
  ///
  /// @param parts native memory, together a multiple of 8 bytes and at most [#maxRecordBytes]
  /// @throws StorageFullException if there is no room for another segment; nothing was appended
  Location append(MemorySegment... parts);

  /// Fills `into` with the bytes of `record` from `from` on.
  ///
  /// @param into native memory
  /// @throws UnknownLocationException if there is no such record, or its segment was deleted and no pin holds it
  /// @throws IndexOutOfBoundsException if the bytes lie outside the record
  void read(Location record, long from, MemorySegment into);

  /// Fills `first` and then `next` with the bytes of `record` from `from` on. Costs less than two reads. Bytes that are
  /// not in memory are read from the end: a read that follows another looks like the beginning of a long one, and the
  /// system would read far ahead.
  default void read(Location record, long from, MemorySegment first, MemorySegment next) {
    read(record, from + first.byteSize(), next);
    read(record, from, first);
  }

  /// As [#read(Location, long, MemorySegment)], for bytes that are not needed again soon: bytes that were not in the
  /// page cache do not stay there, if the system allows.
  default void readOnce(Location record, long from, MemorySegment into) {
    read(record, from, into);
  }

  /// Keeps the bytes of a segment readable until the pin is closed, even if the segment is deleted.
  ///
  /// @throws UnknownLocationException if there is no such segment
  Owned pin(int segment);

  /// Ends the active segment, if there is one.
  void roll();

  /// The active segment, to which records are appended; 0 if the next record begins one.
  int activeSegment();

  /// The segments in the order of writing.
  List<Integer> segments();

  /// The bytes of `segment`, for a walk from the beginning to the end. The caller closes the window.
  ///
  /// @param pieceBytes least bytes that are read at a time
  /// @throws UnknownLocationException if there is no such segment
  SegmentWindow window(int segment, int pieceBytes);

  /// Gives the space behind `end` back, in a segment of an earlier run.
  default void cut(int segment, long end) {}

  /// Deletes a segment. Its name is gone at once, its bytes after the last reader.
  ///
  /// @throws IllegalStateException if the segment is active
  /// @throws UnknownLocationException if there is no such segment
  void delete(int segment);

  /// Forces all appended bytes to the medium. No other call waits for this one.
  void sync();

  /// Space of the medium, used by all programs.
  ///
  /// @throws StorageFailedException if the medium does not report it
  default DiskSpace space() {
    return DiskSpace.ENDLESS;
  }

  /// Releases forced bytes in the system's page cache beyond [EngineOptions#cacheBytes()]. No other call waits for this
  /// one.
  default void trim() {}

  /// Probes the medium: writes, forces, reads and deletes a small file beside the segments. By default the medium
  /// counts as healthy.
  ///
  /// @throws StorageFailedException if that fails, or the directory is not the one that was opened
  /// @throws StorageFullException if there is no room for another segment
  default void probe() {}

  /// Ends the active segment and closes everything. Idempotent.
  @Override
  void close();
}
