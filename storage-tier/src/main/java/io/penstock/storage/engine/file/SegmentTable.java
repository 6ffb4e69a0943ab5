package io.penstock.storage.engine.file;

import io.penstock.block.Owned;
import io.penstock.storage.engine.EngineFailure.EngineClosedException;
import io.penstock.storage.engine.EngineFailure.RecordUnreadableException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineFailure.UnknownLocationException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.RecordParts;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;

/// The segments of one engine, for readers on any thread.
final class SegmentTable {
  private final String engine;
  private final ConcurrentSkipListMap<Integer, SegmentFile> segments = new ConcurrentSkipListMap<>();
  private volatile int highest;
  /// All bytes of the segments below are forced.
  private volatile int forcedBelow;
  private volatile boolean closed;

  SegmentTable(String engine) {
    this.engine = engine;
  }

  void requireOpen() {
    if (closed) {
      throw new EngineClosedException(engine);
    }
  }

  /// Adds a segment whose number is the highest so far.
  void add(SegmentFile segment) {
    highest = segment.number();
    forcedBelow = forcedBelow == 0 ? highest : forcedBelow;
    segments.put(segment.number(), segment);
  }

  List<Integer> numbers() {
    requireOpen();
    return segments.values().stream().filter(segment -> !segment.isDeleted()).map(SegmentFile::number).toList();
  }

  /// The number of the next segment; no number is used twice while the engine is open.
  int nextNumber() {
    return Math.addExact(highest, 1);
  }

  /// Skips a number, whose file may exist.
  void skipNumber() {
    highest = nextNumber();
  }

  private interface Read {
    void from(SegmentFile segment, long offset, MemorySegment[] parts) throws IOException;
  }

  /// @param parts filled one after the other
  void read(Location record, long from, MemorySegment... parts) {
    read(record, from, parts, SegmentFile::read);
  }

  /// As [SegmentFile#readOnce].
  void readOnce(Location record, long from, MemorySegment into) {
    read(record, from, new MemorySegment[] {into}, SegmentFile::readOnce);
  }

  private void read(Location record, long from, MemorySegment[] parts, Read read) {
    Objects.checkFromIndexSize(from, RecordParts.bytes(parts), record.length());
    SegmentFile segment = hold(record.segment());
    try {
      requireInside(segment, record);
      read.from(segment, record.offset() + from, parts);
    } catch (EOFException e) {
      throw new RecordUnreadableException(record, e); // the file was cut short; the disk is healthy
    } catch (IOException e) {
      throw new StorageFailedException("read " + record + " of engine " + engine, e);
    } finally {
      segment.release();
    }
  }

  private void requireInside(SegmentFile segment, Location record) {
    if (record.length() > segment.end() - record.offset()) {
      throw new UnknownLocationException(engine, record, segment.end());
    }
  }

  Owned pin(int number) {
    SegmentFile segment = hold(number);
    if (segment.isDeleted()) {
      segment.release();
      throw new UnknownLocationException(engine, number);
    }
    return new Pin(segment);
  }

  /// The segment, held: the caller releases it.
  SegmentFile hold(int number) {
    requireOpen();
    SegmentFile segment = segments.get(number);
    if (segment == null || !segment.retain()) {
      throw new UnknownLocationException(engine, number);
    }
    return segment;
  }

  void delete(int number) {
    requireOpen();
    SegmentFile segment = segments.get(number);
    if (segment == null || segment.isDeleted()) {
      throw new UnknownLocationException(engine, number);
    }
    try {
      segment.delete();
    } catch (IOException e) {
      throw new StorageFailedException("delete segment " + number + " of engine " + engine, e);
    }
    segments.values().removeIf(SegmentFile::isGone); // a later delete removes those that readers still pin
  }

  /// Segments that may have unforced bytes, held: the caller releases them.
  List<SegmentFile> holdUnforced() {
    requireOpen();
    return segments.tailMap(forcedBelow, true).values().stream()
        .filter(segment -> !segment.isDeleted() && !segment.isAbandoned() && segment.retain()).toList();
  }

  /// The segments of `held` were forced; the newest of them may be active.
  synchronized void forced(List<SegmentFile> held) {
    if (!held.isEmpty()) {
      forcedBelow = Math.max(forcedBelow, held.getLast().number());
    }
  }

  boolean isOpen() {
    return !closed;
  }

  /// Refuses further calls. Segments stay until their last reader is done. Once.
  void close() {
    closed = true;
    segments.values().stream().filter(segment -> !segment.isDeleted()).forEach(SegmentFile::release);
  }

  private static final class Pin extends Owned {
    private final SegmentFile segment;

    Pin(SegmentFile segment) {
      this.segment = segment;
    }

    @Override
    protected void free() {
      segment.release();
    }
  }
}
