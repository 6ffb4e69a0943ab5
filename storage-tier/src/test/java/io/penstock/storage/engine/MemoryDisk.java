package io.penstock.storage.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/// What outlives a [MemoryEngine]: a disk that is native memory. A copy of it, made while its engine works, is what a
/// crash leaves.
///
/// Used by one engine at a time. Closing it frees its memory; close the engine first.
public final class MemoryDisk implements AutoCloseable {
  /// The records of one segment by offset, in memory that goes with the last reader.
  public static final class Log {
    final Arena arena = Arena.ofAuto();
    public final ConcurrentNavigableMap<Long, MemorySegment> records = new ConcurrentSkipListMap<>();
    volatile long end;

    /// Copies a record behind the others; answers its offset.
    long append(MemorySegment[] parts, int length) {
      MemorySegment record = arena.allocate(length, SegmentEngine.RECORD_ALIGNMENT);
      long done = 0;
      for (MemorySegment part : parts) {
        MemorySegment.copy(part, 0, record, done, part.byteSize());
        done += part.byteSize();
      }
      long offset = end;
      records.put(offset, record);
      end = offset + length;
      return offset;
    }
  }

  public final ConcurrentNavigableMap<Integer, Log> logs = new ConcurrentSkipListMap<>();
  @GuardedBy("this") private boolean held;

  /// @throws DirectoryLockedException if another engine uses it
  synchronized void hold() {
    if (held) {
      throw new DirectoryLockedException("memory", Long.toString(ProcessHandle.current().pid()));
    }
    held = true;
  }

  synchronized void letGo() {
    held = false;
  }

  /// Another disk with the bytes that this one has now.
  public MemoryDisk copy() {
    MemoryDisk copy = new MemoryDisk();
    logs.forEach((number, log) -> {
      Log target = new Log();
      log.records.values().forEach(record -> target.append(new MemorySegment[] {record}, (int) record.byteSize()));
      copy.logs.put(number, target);
    });
    return copy;
  }

  /// Cuts the newest record `bytes` before its end, as a crash in the middle of a write would.
  ///
  /// @throws IllegalStateException if the newest record is not longer than `bytes`
  public void tear(int bytes) {
    Map.Entry<Integer, Log> newest = logs.lastEntry();
    Map.Entry<Long, MemorySegment> record = newest == null ? null : newest.getValue().records.lastEntry();
    if (record == null || record.getValue().byteSize() <= bytes) {
      throw new IllegalStateException("newest record must be longer than " + bytes + " (was " + record + ")");
    }
    long left = record.getValue().byteSize() - bytes;
    newest.getValue().records.put(record.getKey(), record.getValue().asSlice(0, left));
    newest.getValue().end = record.getKey() + left;
  }

  @Override
  public void close() {
    logs.clear();
  }
}
