package io.penstock.storage.engine;

import io.penstock.block.Owned;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A log of records in numbered segments: append a record and get its location; give a location and get its bytes.
///
/// | | |
/// |---|---|
/// | threads | [#append], [#roll] and [#delete] take turns, best on one thread; all else runs beside them on any |
/// | blocking | every call may wait for the disk: never on an event loop, and never interrupt its thread |
/// | memory | records are written from, and read into, native memory; no copy is made on the heap |
/// | segments | begun when needed, ended by [#roll] or when a record does not fit; never continued after a restart |
/// | errors | [EngineClosedException] after [#close]; [StorageFailedException] when the medium fails |
public interface SegmentEngine extends AutoCloseable {
  /// Lengths of records are multiples of this: no engine pads.
  int RECORD_ALIGNMENT = 8;

  /// Short name, as in options and in the directory's format file.
  String name();

  /// Where small files may be kept beside the segments; null if there is no such place.
  default @Nullable Path directory() {
    return null;
  }

  /// Longest record.
  int maxRecordBytes();

  /// The segment that the next record goes to if it has `length` bytes; begins one if need be. Another thread that
  /// rolls in between makes it the next one.
  ///
  /// @throws StorageFullException if there is no room for another segment
  int segmentFor(int length);

  /// Appends the bytes of `parts`, one after the other, as one record. When it returns, the operating system has them:
  /// they survive the end of this process, but not of the machine before [#sync].
  ///
  /// @param parts native memory, together a multiple of 8 bytes and at most [#maxRecordBytes]
  /// @throws StorageFullException if there is no room for another segment; nothing was appended
  Location append(MemorySegment... parts);

  /// Fills `into` with the bytes of `record` that begin at `from` inside it.
  ///
  /// @param into native memory
  /// @throws UnknownLocationException if there is no such record, or its segment was deleted and is not pinned
  /// @throws IndexOutOfBoundsException if the bytes asked for leave the record
  void read(Location record, long from, MemorySegment into);

  /// Fills `first` and then `next` with the bytes of `record` that begin at `from` inside it. What is nowhere in memory
  /// is read from behind: a read of what follows another looks like the beginning of a long one, and the system would
  /// read far ahead.
  ///
  /// As [#read(Location, long, MemorySegment)], for less than two of these cost.
  default void read(Location record, long from, MemorySegment first, MemorySegment next) {
    read(record, from + first.byteSize(), next);
    read(record, from, first);
  }

  /// As [#read(Location, long, MemorySegment)], of bytes that will not be read again soon: what was not in memory
  /// before does not stay there, as far as the system lets itself be told.
  default void readOnce(Location record, long from, MemorySegment into) {
    read(record, from, into);
  }

  /// Keeps the bytes of a segment readable, even if it is deleted meanwhile, until the pin is closed.
  ///
  /// @throws UnknownLocationException if the segment is not there
  Owned pin(int segment);

  /// Ends the segment that is appended to, if there is one.
  void roll();

  /// The segment that is appended to; 0 if the next record begins one.
  int activeSegment();

  /// Segments there are, in the order of writing.
  List<Integer> segments();

  /// All bytes of `segment`, to be walked from its beginning to its end. The caller closes it.
  ///
  /// @param pieceBytes read at a time, unless more are asked for
  /// @throws UnknownLocationException if the segment is not there
  SegmentWindow window(int segment, int pieceBytes);

  /// Gives back what lies behind `end` in a segment of an earlier run, where nothing was written.
  default void cut(int segment, long end) {}

  /// Deletes a whole segment. Its name is gone at once, its bytes with the last reader.
  ///
  /// @throws IllegalStateException if it is the active one
  /// @throws UnknownLocationException if it is not there
  void delete(int segment);

  /// Forces everything appended so far to the medium. No other call waits for it.
  void sync();

  /// How full the medium is, by all programs.
  ///
  /// @throws StorageFailedException if it does not say
  default DiskSpace space() {
    return DiskSpace.ENDLESS;
  }

  /// Lets go of what is in the system's page cache beyond [EngineOptions#cacheBytes()] and was forced before. No other
  /// call else waits for it.
  default void trim() {}

  /// Finds out whether the medium is healthy: writes a little beside the segments, forces it, reads it again and
  /// deletes it. Without, it is.
  ///
  /// @throws StorageFailedException if it is not, or is not the one that was opened
  /// @throws StorageFullException if there is no room for another segment
  default void probe() {}

  /// Ends the active segment and closes everything. Idempotent.
  @Override
  void close();
}
