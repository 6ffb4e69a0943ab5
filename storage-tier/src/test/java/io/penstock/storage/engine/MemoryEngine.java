package io.penstock.storage.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Owned;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.EngineClosedException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineFailure.UnknownLocationException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// A log in native memory: for simulation, and for tests that play crashes. Deterministic; has no threads and no clock.
public final class MemoryEngine implements SegmentEngine {
  /// As in [SegmentEngine#name()].
  public static final String NAME = "memory";

  private final MemoryDisk disk;
  private final EngineOptions options;
  private final FreeSpace space;
  @GuardedBy("this") private final TreeMap<Integer, Held> segments = new TreeMap<>();
  @GuardedBy("this") private int active;
  @GuardedBy("this") private boolean closed;

  /// A segment, which pins keep after its delete.
  private static final class Held {
    private final MemoryDisk.Log log;
    private int pins;
    private boolean deleted;

    Held(MemoryDisk.Log log) {
      this.log = log;
    }
  }

  private MemoryEngine(MemoryDisk disk, EngineOptions options, FreeSpace space) {
    this.disk = disk;
    this.options = options;
    this.space = space;
    disk.logs.forEach((number, log) -> segments.put(number, new Held(log)));
  }

  /// @throws DirectoryLockedException if another engine uses `disk`
  public static MemoryEngine open(MemoryDisk disk, EngineOptions options) {
    return open(disk, options, FreeSpace.endless());
  }

  /// The same, on a disk that may fill up.
  public static MemoryEngine open(MemoryDisk disk, EngineOptions options, FreeSpace space) {
    disk.hold();
    return new MemoryEngine(disk, options, space);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public int maxRecordBytes() {
    return options.maxRecordBytes();
  }

  @GuardedBy("this") private void requireOpen() {
    if (closed) {
      throw new EngineClosedException(NAME);
    }
  }

  @Override
  public synchronized Location append(MemorySegment... parts) {
    requireOpen();
    int length = RecordParts.length(parts, maxRecordBytes());
    long offset = logFor(length).append(parts, length);
    return new Location(active, offset, length);
  }

  @Override
  public synchronized int segmentFor(int length) {
    requireOpen();
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
    int number = segments.isEmpty() ? 1 : segments.lastKey() + 1;
    MemoryDisk.Log log = new MemoryDisk.Log();
    disk.logs.put(number, log);
    segments.put(number, new Held(log));
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

  @GuardedBy("this") private Held held(int number) {
    requireOpen();
    Held held = segments.get(number);
    if (held == null || (held.deleted && held.pins == 0)) {
      throw new UnknownLocationException(NAME, number);
    }
    return held;
  }

  @GuardedBy("this") private Held named(int number) {
    Held held = held(number);
    if (held.deleted) {
      throw new UnknownLocationException(NAME, number);
    }
    return held;
  }

  @Override
  public void read(Location record, long from, MemorySegment into) {
    Objects.checkFromIndexSize(from, into.byteSize(), record.length());
    MemoryDisk.Log log;
    synchronized (this) {
      log = held(record.segment()).log;
    }
    if (record.length() > log.end - record.offset()) {
      throw new UnknownLocationException(NAME, record, log.end);
    }
    try {
      read(log, record.offset() + from, into);
    } catch (IOException e) {
      throw new StorageFailedException("read " + record + " of engine " + NAME, e);
    }
  }

  private static void read(MemoryDisk.Log log, long offset, MemorySegment into) throws IOException {
    long at = offset;
    long done = 0;
    while (done < into.byteSize()) {
      Map.Entry<Long, MemorySegment> record = log.records.floorEntry(at);
      long skip = record == null ? 0 : at - record.getKey();
      if (record == null || skip >= record.getValue().byteSize()) {
        throw new IOException("segment has no byte at " + at);
      }
      long count = Math.min(record.getValue().byteSize() - skip, into.byteSize() - done);
      MemorySegment.copy(record.getValue(), skip, into, done, count);
      done += count;
      at += count;
    }
  }

  @Override
  public synchronized Owned pin(int segment) {
    Held held = named(segment);
    held.pins++;
    return new Owned() {
      @Override
      protected void free() {
        synchronized (MemoryEngine.this) {
          held.pins--;
        }
      }
    };
  }

  @Override
  public synchronized void roll() {
    requireOpen();
    active = 0;
  }

  @Override
  public synchronized int activeSegment() {
    return active;
  }

  @Override
  public synchronized List<Integer> segments() {
    requireOpen();
    return segments.entrySet().stream().filter(each -> !each.getValue().deleted).map(Map.Entry::getKey).toList();
  }

  @Override
  public synchronized SegmentWindow window(int segment, int pieceBytes) {
    MemoryDisk.Log log = held(segment).log;
    return new SegmentWindow(Path.of(NAME, String.valueOf(segment)), log.end,
        (at, into) -> read(log, at, MemorySegment.ofBuffer(into)), () -> {}, pieceBytes).holds(0, 0, 0);
  }

  @Override
  public synchronized void delete(int segment) {
    if (segment == active && segment > 0) {
      throw new IllegalStateException("segment must not be the active one to be deleted (was " + segment + ")");
    }
    named(segment).deleted = true;
    disk.logs.remove(segment);
  }

  @Override
  public synchronized void sync() {
    requireOpen(); // memory is as durable as it gets
  }

  @Override
  public synchronized void probe() {
    requireOpen();
    requireRoom();
  }

  @Override
  public synchronized void close() {
    active = 0;
    if (!closed) {
      closed = true;
      disk.letGo();
    }
  }

  @Override
  public String toString() {
    return NAME;
  }
}
