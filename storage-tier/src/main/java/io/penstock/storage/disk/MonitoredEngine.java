package io.penstock.storage.disk;

import io.penstock.storage.engine.DiskSpace;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.engine.ForwardingEngine;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.record.RecordFormat;
import io.penstock.tier.spi.StoreUnavailableException;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/// An engine that reports durations and failures of calls to its [DiskHealth].
public final class MonitoredEngine extends ForwardingEngine {
  /// Readers leave fewer bytes than this at the end of a record: its mark, and the padding before it.
  private static final int UNREAD_BYTES = 2 * RecordFormat.MARK_BYTES;

  private final DiskHealth health;

  public MonitoredEngine(SegmentEngine engine, DiskHealth health) {
    super(engine);
    this.health = health;
  }

  @Override
  public int segmentFor(int length) {
    return appending(() -> super.segmentFor(length));
  }

  @Override
  public Location append(MemorySegment... parts) {
    return appending(() -> super.append(parts));
  }

  private <T> T appending(Supplier<T> work) {
    int slot = health.enter();
    try {
      return work.get();
    } catch (StorageFullException e) {
      health.full(e);
      throw e;
    } catch (StorageFailedException e) {
      health.writeFailed(e);
      throw e;
    } finally {
      health.leave(slot);
    }
  }

  @Override
  public void read(Location record, long from, MemorySegment into) {
    watched(record, from, into.byteSize(), () -> super.read(record, from, into));
  }

  @Override
  public void read(Location record, long from, MemorySegment first, MemorySegment next) {
    watched(record, from, first.byteSize() + next.byteSize(), () -> super.read(record, from, first, next));
  }

  @Override
  public void readOnce(Location record, long from, MemorySegment into) {
    watched(record, from, into.byteSize(), () -> super.readOnce(record, from, into));
  }

  private void watched(Location record, long from, long bytes, Runnable read) {
    int slot = health.enter();
    try {
      read.run();
      health.suspects().readDone(record, from == 0 && bytes > record.length() - UNREAD_BYTES);
    } catch (StorageFailedException e) {
      throw health.readFailed(record, e);
    } finally {
      health.leave(slot);
    }
  }

  @Override
  public void sync() {
    changing(super::sync);
  }

  @Override
  public void roll() {
    changing(super::roll);
  }

  @Override
  public void delete(int segment) {
    changing(() -> super.delete(segment));
    health.suspects().forget(segment);
  }

  private void changing(Runnable work) {
    try {
      slow(work);
    } catch (StoreUnavailableException e) {
      health.writeFailed(e);
      throw e;
    }
  }

  private void slow(Runnable work) {
    int slot = health.enterSlow();
    try {
      work.run();
    } finally {
      health.leave(slot);
    }
  }

  @Override
  public DiskSpace space() {
    int slot = health.enterSlow();
    try {
      return super.space();
    } finally {
      health.leave(slot);
    }
  }

  @Override
  public void close() {
    slow(super::close);
  }

  @Override
  public void probe() {
    slow(super::probe);
  }
}
