package io.penstock.storage.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Owned;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// A log in native memory: for simulation, and for tests that play crashes. Deterministic; has no threads and no clock.
public final class MemoryEngine implements SegmentEngine {
  /// As in [SegmentEngine#name()].
  public static final String NAME = "memory";

  private final MemoryDisk disk;
  private final EngineOptions options;
  private final FreeSpace space;
  private final SegmentTable table = new SegmentTable(NAME);
  @GuardedBy("this") private int active;

  private MemoryEngine(MemoryDisk disk, EngineOptions options, FreeSpace space) {
    this.disk = disk;
    this.options = options;
    this.space = space;
  }

  /// @throws DirectoryLockedException if another engine uses `disk`
  public static MemoryEngine open(MemoryDisk disk, EngineOptions options) {
    return open(disk, options, FreeSpace.endless());
  }

  /// The same, on a disk that may fill up.
  public static MemoryEngine open(MemoryDisk disk, EngineOptions options, FreeSpace space) {
    disk.hold();
    MemoryEngine engine = new MemoryEngine(disk, options, space);
    disk.logs.forEach((number, log) -> engine.table.add(new LogSegment(disk, number, log)));
    return engine;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public int maxRecordBytes() {
    return options.maxRecordBytes();
  }

  @Override
  public synchronized Location append(MemorySegment... parts) {
    table.requireOpen();
    int length = RecordParts.length(parts, maxRecordBytes());
    long offset = logFor(length).append(parts, length);
    return new Location(active, offset, length);
  }

  @Override
  public synchronized int segmentFor(int length) {
    table.requireOpen();
    logFor(length);
    return active;
  }

  @GuardedBy("this") private MemoryDisk.Log logFor(int length) {
    MemoryDisk.Log log = disk.logs.get(active);
    return log == null || log.end + length > options.segmentBytes() ? begin() : log;
  }

  @GuardedBy("this") private MemoryDisk.Log begin() {
    active = 0;
    requireRoom();
    int number = table.nextNumber();
    MemoryDisk.Log log = new MemoryDisk.Log();
    disk.logs.put(number, log);
    table.add(new LogSegment(disk, number, log));
    active = number;
    return log;
  }

  private void requireRoom() {
    try {
      options.requireRoom(NAME, space);
    } catch (IOException e) {
      throw new StorageFailedException("begin a segment in memory", e);
    }
  }

  @Override
  public void read(Location record, long from, MemorySegment into) {
    table.read(record, from, into);
  }

  @Override
  public Owned pin(int segment) {
    return table.pin(segment);
  }

  @Override
  public synchronized void roll() {
    table.requireOpen();
    active = 0;
  }

  @Override
  public synchronized int activeSegment() {
    return active;
  }

  @Override
  public List<Integer> segments() {
    return table.numbers();
  }

  @Override
  public SegmentWindow window(int segment, int pieceBytes) {
    LogSegment held = (LogSegment) table.hold(segment);
    return new SegmentWindow(Path.of(NAME, String.valueOf(segment)), held.end(),
        (at, into) -> held.read(at, MemorySegment.ofBuffer(into)), held::release, pieceBytes).holds(0, 0, 0);
  }

  @Override
  public synchronized void delete(int segment) {
    if (segment == active && segment > 0) {
      throw new IllegalStateException("segment must not be the active one to be deleted (was " + segment + ")");
    }
    table.delete(segment);
  }

  @Override
  public void sync() {
    table.requireOpen(); // memory is as durable as it gets
  }

  @Override
  public void probe() {
    table.requireOpen();
    requireRoom();
  }

  @Override
  public synchronized void close() {
    active = 0;
    if (table.isOpen()) {
      table.close();
      disk.letGo();
    }
  }

  @Override
  public String toString() {
    return NAME;
  }

  private static final class LogSegment extends StoredSegment {
    private final MemoryDisk disk;
    private final MemoryDisk.Log log;

    LogSegment(MemoryDisk disk, int number, MemoryDisk.Log log) {
      super(number, 0);
      this.disk = disk;
      this.log = log;
    }

    @Override
    long end() {
      return log.end;
    }

    @Override
    void read(long offset, MemorySegment[] parts) throws IOException {
      long at = offset;
      for (MemorySegment part : parts) {
        read(at, part);
        at += part.byteSize();
      }
    }

    private void read(long offset, MemorySegment into) throws IOException {
      long at = offset;
      long done = 0;
      while (done < into.byteSize()) {
        Map.Entry<Long, MemorySegment> record = log.records.floorEntry(at);
        long skip = record == null ? 0 : at - record.getKey();
        if (record == null || skip >= record.getValue().byteSize()) {
          throw new IOException("segment " + number() + " has no byte at " + at);
        }
        long count = Math.min(record.getValue().byteSize() - skip, into.byteSize() - done);
        MemorySegment.copy(record.getValue(), skip, into, done, count);
        done += count;
        at += count;
      }
    }

    @Override
    void force() {
      // nothing is behind this memory
    }

    @Override
    void unlink() {
      disk.logs.remove(number());
    }

    @Override
    void drop() {
      if (isDeleted()) {
        log.arena.close();
      }
    }
  }
}
