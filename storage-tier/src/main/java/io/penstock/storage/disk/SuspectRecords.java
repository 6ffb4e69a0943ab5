package io.penstock.storage.disk;

import io.penstock.KvException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Records whose reads failed. Probes read them again. A record is given up when it fails while the disk is healthy. It
/// stays given up until its block is lost or closed, its segment is deleted, or a read gives the whole record. Safe
/// from any thread.
public final class SuspectRecords {
  /// Number of failures in a row after which the disk is at fault.
  public static final int TOO_MANY = 3;

  /// Number of failures after which a record is given up, although no other read proves that the disk gives anything.
  static final int PATIENCE = 8;

  /// Number of failures after which a record is given up if other reads succeed.
  private static final int SURE = 3;

  /// Maximum number of records. A further one replaces the oldest that is given up.
  static final int MOST = 256;

  /// Maximum number of records that a probe reads.
  static final int TRIED = 4;

  /// A probe reads a long record in pieces.
  private static final int PIECE_BYTES = 1 << 20;

  private static final class Tries {
    private int failed = 1;
    private boolean givenUp;
  }

  private final Map<Location, Tries> records = new LinkedHashMap<>();
  private volatile int inARow;
  /// Whether a read succeeded since the last failure, and since a record was given up.
  private volatile boolean gave;
  /// Whether there are any records.
  private volatile boolean any;
  private @Nullable KvException trouble;

  /// A read of `record` succeeded.
  ///
  /// @param whole whether the read gave all of it
  void readDone(Location record, boolean whole) {
    if (inARow != 0) {
      inARow = 0;
    }
    if (!gave) {
      gave = true;
    }
    if (whole) {
      forget(record);
    }
  }

  synchronized void add(Location record, KvException e) {
    inARow = inARow + 1;
    gave = false;
    if (inARow >= TOO_MANY) {
      trouble = e;
    }
    if (!records.containsKey(record) && (records.size() < MOST || forgetOldest())) {
      records.put(record, new Tries());
      any = true;
    }
  }

  private boolean forgetOldest() {
    return records.entrySet().stream().filter(each -> each.getValue().givenUp).findFirst()
        .map(oldest -> records.remove(oldest.getKey())).isPresent();
  }

  /// Whether `record` is given up.
  public synchronized boolean isGivenUp(Location record) {
    Tries tries = records.get(record);
    return tries != null && tries.givenUp;
  }

  /// The failure that turned the disk off; null if it is not off.
  synchronized @Nullable KvException trouble() {
    return trouble;
  }

  /// Whether a probe has a record to read.
  synchronized boolean isAny() {
    return trouble != null || records.values().stream().anyMatch(tries -> !tries.givenUp);
  }

  /// Reads some records again. Waits for the disk.
  ///
  /// @param answers whether the disk takes writes, or says that it is full; else it is unhealthy
  void retry(SegmentEngine engine, boolean answers) {
    boolean given = false;
    List<Location> failed = new ArrayList<>(TRIED);
    for (Location record : next()) {
      switch (answer(engine, record)) {
        case GIVEN -> {
          given = true;
          forget(record);
        }
        case GONE -> forget(record);
        case NOT_GIVEN -> failed.add(record);
      }
    }
    judge(failed, given, answers);
  }

  private synchronized List<Location> next() {
    return records.entrySet().stream().filter(each -> !each.getValue().givenUp).limit(TRIED).map(Map.Entry::getKey)
        .toList();
  }

  /// Forgets a record that can be read, or whose block is lost or closed.
  public void forget(Location record) {
    if (any) {
      forgetKnown(record);
    }
  }

  private synchronized void forgetKnown(Location record) {
    records.remove(record);
    any = !records.isEmpty();
  }

  /// Forgets the records of a deleted segment.
  synchronized void forget(int segment) {
    records.keySet().removeIf(record -> record.segment() == segment);
    any = !records.isEmpty();
  }

  private synchronized void judge(List<Location> failed, boolean given, boolean answers) {
    if (given) {
      gave = true;
    }
    boolean gaveUp = false;
    for (Location record : failed) {
      Tries tries = records.get(record);
      if (tries != null) {
        tries.failed++;
        tries.givenUp = answers && (tries.failed > PATIENCE || (gave && tries.failed >= SURE));
        gaveUp |= tries.givenUp;
      }
    }
    if (given || failed.isEmpty() || gaveUp) {
      trouble = null;
      inARow = 0;
    }
    if (gaveUp) {
      gave = false; // further records need a new proof
    }
  }

  private enum Answer {
    /// Every byte was read.
    GIVEN, NOT_GIVEN,
    /// The segment was deleted, or the engine is closed: that proves nothing.
    GONE
  }

  private static Answer answer(SegmentEngine engine, Location record) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment piece = arena.allocate(Math.min(PIECE_BYTES, record.length()));
      for (long at = 0; at < record.length(); at += PIECE_BYTES) {
        engine.read(record, at, piece.asSlice(0, Math.min(PIECE_BYTES, record.length() - at)));
      }
      return Answer.GIVEN;
    } catch (StorageFailedException e) {
      return Answer.NOT_GIVEN;
    } catch (KvException e) {
      return Answer.GONE;
    }
  }
}
