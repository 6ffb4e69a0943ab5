package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Records whose read failed. Either they are at fault, or the whole disk is. Probes read them again: a record is given
/// up when it fails while the disk is healthy. It stays given up until its block is lost or gone, until it was read
/// whole (a part that can be read says nothing of the others), or its segment is deleted. Safe from any thread.
final class SuspectRecords {
  /// So many failures in a row are the disk's.
  static final int TOO_MANY = 3;

  /// A record that failed more often is given up although no other read shows that the disk gives anything.
  static final int PATIENCE = 8;

  /// One that failed so often is given up if other reads succeed.
  private static final int SURE = 3;

  /// Most that are remembered. Another one replaces the oldest of those that are given up.
  static final int MOST = 256;

  /// Most that are tried again at a time.
  static final int TRIED = 4;

  /// A long record is read again in pieces.
  private static final int PIECE_BYTES = 1 << 20;

  private static final class Tries {
    private int failed = 1;
    private boolean givenUp;
  }

  private final Map<Location, Tries> records = new LinkedHashMap<>();
  private volatile int inARow;
  /// Whether the disk gave a record since the last failure, and since the last record was given up.
  private volatile boolean gave;
  /// Whether there are any records.
  private volatile boolean any;
  private @Nullable KvException trouble;

  /// A read of `record` succeeded.
  ///
  /// @param whole whether that was all there is to be read of it
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

  /// Whether the disk is healthy, and does not give `record`.
  synchronized boolean isGivenUp(Location record) {
    Tries tries = records.get(record);
    return tries != null && tries.givenUp;
  }

  /// Why the disk counts as one that gives nothing, if it does.
  synchronized @Nullable KvException trouble() {
    return trouble;
  }

  /// Whether any is to be tried again.
  synchronized boolean isAny() {
    return trouble != null || records.values().stream().anyMatch(tries -> !tries.givenUp);
  }

  /// Reads some of them again. Waits for the disk.
  ///
  /// @param answers whether the disk takes what is written, or says that it is full: one that does neither is unhealthy
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

  /// It can be read, or its block is lost or gone.
  void forget(Location record) {
    if (any) {
      forgetKnown(record);
    }
  }

  private synchronized void forgetKnown(Location record) {
    records.remove(record);
    any = !records.isEmpty();
  }

  /// A segment is gone.
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
      gave = false; // the next are given up for what is read from now on
    }
  }

  private enum Answer {
    /// Every byte of it.
    GIVEN, NOT_GIVEN,
    /// It was deleted, or the engine is closed: that tells nothing of the disk.
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
