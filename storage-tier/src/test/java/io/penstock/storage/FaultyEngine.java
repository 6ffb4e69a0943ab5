package io.penstock.storage;

import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/// An engine on a disk that a test makes fail: full, read-only, broken, or one that does not answer.
public class FaultyEngine extends WrappedEngine {
  /// What a disk may be asked for.
  public enum Work {
    APPEND, READ, SYNC, ROLL, DELETE, PROBE, CLOSE
  }

  /// Ways in which a disk does not do it.
  public enum Fault {
    NO_SPACE, IO_ERROR, READ_ONLY
  }

  private final Set<Work> broken = ConcurrentHashMap.newKeySet();
  private final Set<Work> erring = ConcurrentHashMap.newKeySet();
  private volatile Fault fault = Fault.IO_ERROR;
  private volatile Set<Location> unreadable = Set.of();
  private volatile int unreadableFrom;
  private volatile @Nullable CountDownLatch stall;
  private volatile CountDownLatch entered = new CountDownLatch(1);
  private volatile @Nullable Work stalled;
  private volatile boolean closed;

  public FaultyEngine(SegmentEngine engine) {
    super(engine);
  }

  /// Fails at `work` from now on.
  public void fail(Fault how, Work... work) {
    fault = how;
    broken.addAll(Set.of(work));
  }

  /// Fails at `work` from now on as no engine should: as a page that cannot be had does.
  public void err(Work work) {
    erring.add(work);
  }

  /// Gives all records but these.
  public void failAt(Location... records) {
    failBehind(0, records);
  }

  /// Gives all records but these, of which it gives the first bytes.
  void failBehind(int bytes, Location... records) {
    unreadableFrom = bytes;
    unreadable = Set.of(records);
  }

  /// Calls of `work` wait from now on until [#mend].
  void stall(Work work) {
    entered = new CountDownLatch(1);
    stall = new CountDownLatch(1);
    stalled = work;
  }

  /// Waits until a call is stuck.
  void awaitStuck() throws InterruptedException {
    entered.await();
  }

  boolean isClosed() {
    return closed;
  }

  /// Does everything from now on.
  public void mend() {
    broken.clear();
    erring.clear();
    release();
  }

  /// Stuck calls go on.
  void release() {
    stalled = null;
    CountDownLatch stuck = stall;
    if (stuck != null) {
      stuck.countDown();
    }
  }

  private void work(Work work) {
    CountDownLatch stuck = stall;
    if (work == stalled && stuck != null) {
      entered.countDown();
      try {
        stuck.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    if (erring.contains(work)) {
      throw new InternalError("a page of the disk could not be had");
    }
    if (broken.contains(work)) {
      throw switch (fault) {
        case NO_SPACE -> new StorageFullException("a disk", 1, 0, null);
        case IO_ERROR -> new StorageFailedException(work.name(), new IOException("Input/output error"));
        case READ_ONLY -> new StorageFailedException(work.name(), new IOException("Read-only file system"));
      };
    }
  }

  @Override
  public Location append(MemorySegment... parts) {
    work(Work.APPEND);
    return super.append(parts);
  }

  @Override
  public void read(Location record, long from, MemorySegment into) {
    work(Work.READ);
    if (unreadable.contains(record) && from + into.byteSize() > unreadableFrom) {
      throw new StorageFailedException("read", new IOException("Input/output error"));
    }
    super.read(record, from, into);
  }

  @Override
  public void sync() {
    work(Work.SYNC);
    super.sync();
  }

  @Override
  public void roll() {
    work(Work.ROLL);
    super.roll();
  }

  @Override
  public void delete(int segment) {
    work(Work.DELETE);
    super.delete(segment);
  }

  @Override
  public void close() {
    work(Work.CLOSE);
    super.close();
    closed = true;
  }

  @Override
  public void probe() {
    work(Work.PROBE);
    super.probe();
  }
}
