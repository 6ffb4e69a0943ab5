package io.penstock.storage.checkpoint;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.ForwardingEngine;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.record.RecordHead;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// An engine that writes a checkpoint of each ended segment when all of the segment is on the medium, on the thread
/// that synced. So a checkpoint names only records that survive a failure of the machine. The first part of each
/// appended record is its head.
public final class CheckpointedEngine extends ForwardingEngine {
  private final Checkpoints checkpoints;
  private final boolean forces;
  /// Records of the active segment.
  @GuardedBy("this") private List<RecordSummary> records = new ArrayList<>();
  /// Records of ended segments that may not be on the medium.
  @GuardedBy("this") private final Map<Integer, List<RecordSummary>> ended = new TreeMap<>();
  /// The segment that was active when a sync failed.
  @GuardedBy("this") private int doubtful;
  /// Records were appended since the last sync began.
  @GuardedBy("this") private boolean unsynced;

  private CheckpointedEngine(SegmentEngine engine, Path directory, boolean forces) {
    super(engine);
    this.checkpoints = new Checkpoints(directory);
    this.forces = forces;
  }

  /// `engine` with checkpoints; `engine` itself if it has no directory for them.
  ///
  /// @param forces false if the rule syncs nothing: then a checkpoint is written when its segment ends, and is not
  ///     forced
  public static SegmentEngine of(SegmentEngine engine, boolean forces) {
    Path directory = engine.directory();
    return directory == null ? engine : new CheckpointedEngine(engine, directory, forces);
  }

  public Checkpoints checkpoints() {
    return checkpoints;
  }

  /// An opening found records in `segment`, which may not be on the medium yet.
  public void found(int segment, List<RecordSummary> found) {
    synchronized (this) {
      unsynced = true;
    }
    ended(segment, List.copyOf(found));
  }

  @Override
  public Location append(MemorySegment... parts) {
    Location at = super.append(parts);
    note(at, parts[0]);
    return at;
  }

  private void note(Location at, MemorySegment head) {
    RecordHead decoded = RecordHead.decode(head, at.length());
    if (decoded == null) {
      throw new IllegalArgumentException("first part of a record must be its head (was something else)");
    }
    RecordSummary noted = RecordSummary.of(at, decoded);
    List<RecordSummary> before = List.of();
    synchronized (this) {
      if (!records.isEmpty() && records.getLast().at().segment() != at.segment()) {
        before = records;
        records = new ArrayList<>();
      }
      records.add(noted);
      unsynced = true;
    }
    if (!before.isEmpty()) {
      ended(before.getFirst().at().segment(), before);
    }
  }

  private void ended(int segment, List<RecordSummary> of) {
    if (!forces) {
      checkpoints.write(segment, of, false);
      return;
    }
    synchronized (this) {
      if (segment != doubtful) {
        ended.put(segment, of);
      }
    }
  }

  /// Writes checkpoints of segments that were ended before the sync began.
  @Override
  public void sync() {
    Map<Integer, List<RecordSummary>> covered;
    synchronized (this) {
      covered = new TreeMap<>(ended);
      ended.clear();
      unsynced = false;
    }
    try {
      super.sync();
    } catch (Throwable e) {
      doubt();
      throw e;
    }
    covered.forEach((segment, of) -> checkpoints.write(segment, of, forces));
  }

  /// Makes the next opening walk these segments, after a failed sync.
  private synchronized void doubt() {
    ended.clear();
    unsynced = true;
    if (!records.isEmpty()) {
      doubtful = records.getLast().at().segment();
    }
  }

  @Override
  public void delete(int segment) {
    super.delete(segment);
    synchronized (this) {
      records.removeIf(each -> each.at().segment() == segment);
      ended.remove(segment);
    }
    try {
      checkpoints.delete(segment);
    } catch (StorageFailedException e) {
      // the next opening deletes checkpoints without a segment
    }
  }

  @Override
  public void close() {
    try {
      writeLast();
    } finally {
      super.close();
    }
  }

  /// Writes checkpoints of segments that are on the medium. The next opening walks the other segments.
  private void writeLast() {
    Map<Integer, List<RecordSummary>> left;
    synchronized (this) {
      if (forces && unsynced) {
        return;
      }
      left = new TreeMap<>(ended);
      ended.clear();
      if (!records.isEmpty() && records.getFirst().at().segment() != doubtful) {
        left.put(records.getFirst().at().segment(), records);
      }
      records = new ArrayList<>();
    }
    left.forEach((segment, of) -> checkpoints.write(segment, of, forces));
  }
}
