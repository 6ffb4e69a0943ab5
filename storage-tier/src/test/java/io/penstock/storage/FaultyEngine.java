package io.penstock.storage;

import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.engine.StorageFullException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/// An engine on a disk that a test makes fail: full, read-only, broken, or one that does not answer.
final class FaultyEngine extends WrappedEngine {
  /// What a disk may be asked for.
  enum Work {
    APPEND, READ, SYNC, ROLL, DELETE, PROBE, CLOSE
  }

  /// Ways in which a disk does not do it.
  enum Fault {
    NO_SPACE, IO_ERROR, READ_ONLY
  }

  private final Set<Work> broken = ConcurrentHashMap.newKeySet();
  private volatile Fault fault = Fault.IO_ERROR;
  private volatile @Nullable Location unreadable;
  private volatile @Nullable CountDownLatch stall;
  private volatile CountDownLatch entered = new CountDownLatch(1);
  private volatile @Nullable Work stalled;
  private volatile boolean closed;

  FaultyEngine(SegmentEngine engine) {
    super(engine);
  }

  /// Fails at `work` from now on.
  void fail(Fault how, Work... work) {
    fault = how;
    broken.addAll(Set.of(work));
  }

  /// Does not give one record.
  void failAt(@Nullable Location record) {
    unreadable = record;
  }

  /// Whoever asks for `work` from now on waits until [#mend].
  void stall(Work work) {
    entered = new CountDownLatch(1);
    stall = new CountDownLatch(1);
    stalled = work;
  }

  /// Waits until somebody is stuck.
  void awaitStuck() throws InterruptedException {
    entered.await();
  }

  boolean isClosed() {
    return closed;
  }

  /// Does everything from now on.
  void mend() {
    broken.clear();
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
    if (record.equals(unreadable)) {
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
