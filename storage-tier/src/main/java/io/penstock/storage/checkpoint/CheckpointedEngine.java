package io.penstock.storage.checkpoint;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.storage.engine.EngineClosedException;
import io.penstock.storage.engine.ForwardingEngine;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.record.RecordHead;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// An engine that writes a checkpoint of each segment that was ended, as soon as all of the segment is on the medium,
/// on the thread that put it there: whatever a checkpoint names survives a failure of the machine. The first part of
/// each record that is appended is its head.
public final class CheckpointedEngine extends ForwardingEngine {
  private final SegmentEngine engine;
  private final Checkpoints checkpoints;
  private final boolean forces;
  /// Of the segment that was appended to last.
  @GuardedBy("this") private List<RecordSummary> records = new ArrayList<>();
  /// Of segments that were ended, and are not known to be on the medium.
  @GuardedBy("this") private final Map<Integer, List<RecordSummary>> ended = new TreeMap<>();
  /// A sync failed while it was appended to.
  @GuardedBy("this") private int doubtful;
  /// Something was appended since the last sync began.
  @GuardedBy("this") private boolean unsynced;

  private CheckpointedEngine(SegmentEngine engine, Path directory, boolean forces) {
    super(engine);
    this.engine = engine;
    this.checkpoints = new Checkpoints(directory);
    this.forces = forces;
  }

  /// `engine` with checkpoints; `engine` itself if it has no directory to write them to.
  ///
  /// @param forces false if the rule is to sync nothing: then a checkpoint is written when its segment ends, and not
  ///     forced either
  public static SegmentEngine of(SegmentEngine engine, boolean forces) {
    Path directory = engine.directory();
    return directory == null ? engine : new CheckpointedEngine(engine, directory, forces);
  }

  /// Those that there are.
  public Checkpoints checkpoints() {
    return checkpoints;
  }

  /// An opening found `found` in `segment`, which is not appended to: they may not be on the medium yet.
  public void found(int segment, List<RecordSummary> found) {
    synchronized (this) {
      unsynced = true;
    }
    ended(segment, List.copyOf(found));
  }

  @Override
  public Location append(MemorySegment... parts) {
    Location at = engine.append(parts);
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

  /// What this writes a checkpoint of was ended before it began.
  @Override
  public void sync() {
    Map<Integer, List<RecordSummary>> covered;
    synchronized (this) {
      covered = new TreeMap<>(ended);
      ended.clear();
      unsynced = false;
    }
    try {
      engine.sync();
    } catch (Throwable e) {
      doubt();
      throw e;
    }
    covered.forEach((segment, of) -> checkpoints.write(segment, of, forces));
  }

  /// It is unknown what of all this is on the medium: the next opening looks.
  private synchronized void doubt() {
    ended.clear();
    unsynced = true;
    if (!records.isEmpty()) {
      doubtful = records.getLast().at().segment();
    }
  }

  @Override
  public void delete(int segment) {
    engine.delete(segment);
    synchronized (this) {
      records.removeIf(each -> each.at().segment() == segment);
      ended.remove(segment);
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
      writeLast();
    } finally {
      engine.close();
    }
  }

  private void writeLast() {
    List<RecordSummary> last;
    boolean needsSync;
    synchronized (this) {
      last = records;
      records = new ArrayList<>();
      needsSync = forces && unsynced;
      if (needsSync && doubtful != 0) {
        return; // the medium failed: nothing is promised of what it was not asked for
      }
    }
    if (!last.isEmpty()) {
      ended(last.getFirst().at().segment(), last);
    }
    if (needsSync) {
      tryToSync();
    } else {
      writeEnded();
    }
  }

  private void tryToSync() {
    try {
      sync();
    } catch (StorageFailedException | EngineClosedException e) {
      // the next opening does without; callers who need the failure synced before
    }
  }

  private void writeEnded() {
    Map<Integer, List<RecordSummary>> left;
    synchronized (this) {
      left = new TreeMap<>(ended);
      ended.clear();
    }
    left.forEach((segment, of) -> checkpoints.write(segment, of, forces));
  }
}
