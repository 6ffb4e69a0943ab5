package io.penstock.storage.checkpoint;

import io.penstock.block.Owned;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.ScanEnd;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.record.RecordException;
import io.penstock.storage.record.RecordHead;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// An engine that writes a checkpoint of each segment when it begins the next one, and at the close. The first part of each record that is
/// appended is its head.
public final class CheckpointedEngine implements SegmentEngine {
  private final SegmentEngine engine;
  private final Checkpoints checkpoints;
  /// Guarded by `this`: of the segment that was appended to last.
  private final List<Noted> records = new ArrayList<>();

  private CheckpointedEngine(SegmentEngine engine, Path directory) {
    this.engine = engine;
    this.checkpoints = new Checkpoints(directory);
  }

  /// `engine` with checkpoints; `engine` itself if it has no directory to write them to.
  public static SegmentEngine of(SegmentEngine engine) {
    Path directory = engine.directory();
    return directory == null ? engine : new CheckpointedEngine(engine, directory);
  }

  @Override
  public Location append(MemorySegment... parts) {
    Location at = engine.append(parts);
    note(at, parts[0]);
    return at;
  }

  private synchronized void note(Location at, MemorySegment head) {
    if (!records.isEmpty() && records.getLast().at().segment() != at.segment()) {
      write();
    }
    try {
      records.add(Noted.of(at, RecordHead.decode(head, at.length())));
    } catch (RecordException e) {
      throw new IllegalArgumentException("first part of a record must be its head (was something else)", e);
    }
  }

  private void write() {
    if (!records.isEmpty()) {
      checkpoints.write(records.getLast().at().segment(), records);
      records.clear();
    }
  }

  @Override
  public void delete(int segment) {
    engine.delete(segment);
    synchronized (this) {
      records.removeIf(each -> each.at().segment() == segment);
    }
    try {
      checkpoints.delete(segment);
    } catch (StorageFailedException e) {
      // the segment is gone all the same; the next opening removes checkpoints of segments that are not there
    }
  }

  @Override
  public void close() {
    try {
      synchronized (this) {
        write();
      }
    } finally {
      engine.close();
    }
  }

  @Override
  public String name() {
    return engine.name();
  }

  @Override
  public @Nullable Path directory() {
    return engine.directory();
  }

  @Override
  public int maxRecordBytes() {
    return engine.maxRecordBytes();
  }

  @Override
  public void read(Location record, long from, MemorySegment into) {
    engine.read(record, from, into);
  }

  @Override
  public void read(Location record, long from, MemorySegment first, MemorySegment next) {
    engine.read(record, from, first, next);
  }

  @Override
  public Owned pin(int segment) {
    return engine.pin(segment);
  }

  @Override
  public void roll() {
    engine.roll();
  }

  @Override
  public int activeSegment() {
    return engine.activeSegment();
  }

  @Override
  public List<Integer> segments() {
    return engine.segments();
  }

  @Override
  public ScanEnd scan(int segment, Consumer<Location> visitor) {
    return engine.scan(segment, visitor);
  }

  @Override
  public void trim() {
    engine.trim();
  }

  @Override
  public void sync() {
    engine.sync();
  }

  @Override
  public String toString() {
    return engine.toString();
  }
}
