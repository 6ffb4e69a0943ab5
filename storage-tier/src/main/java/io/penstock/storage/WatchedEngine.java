package io.penstock.storage;

import io.penstock.block.Owned;
import io.penstock.storage.engine.DiskSpace;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.ScanEnd;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.engine.StorageFullException;
import io.penstock.tier.StoreUnavailableException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// An engine whose [DiskHealth] hears how long everything takes, and what fails.
final class WatchedEngine implements SegmentEngine {
  private final SegmentEngine engine;
  private final DiskHealth health;

  WatchedEngine(SegmentEngine engine, DiskHealth health) {
    this.engine = engine;
    this.health = health;
  }

  @Override
  public Location append(MemorySegment... parts) {
    int slot = health.enter();
    try {
      return engine.append(parts);
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
    watched(record, () -> engine.read(record, from, into));
  }

  @Override
  public void read(Location record, long from, MemorySegment first, MemorySegment next) {
    watched(record, () -> engine.read(record, from, first, next));
  }

  private void watched(Location record, Runnable read) {
    int slot = health.enter();
    try {
      read.run();
      health.readDone();
    } catch (StorageFailedException e) {
      throw health.readFailed(record, e);
    } finally {
      health.leave(slot);
    }
  }

  @Override
  public void sync() {
    int slot = health.enterSlow();
    try {
      engine.sync();
    } catch (StoreUnavailableException e) {
      health.writeFailed(e);
      throw e;
    } finally {
      health.leave(slot);
    }
  }

  @Override
  public DiskSpace space() {
    return engine.space();
  }

  @Override
  public void trim() {
    engine.trim();
  }

  private void change(Runnable work) {
    int slot = health.enterSlow();
    try {
      work.run();
    } catch (StoreUnavailableException e) {
      health.writeFailed(e);
      throw e;
    } finally {
      health.leave(slot);
    }
  }

  @Override
  public void roll() {
    change(engine::roll);
  }

  @Override
  public void delete(int segment) {
    change(() -> engine.delete(segment));
  }

  @Override
  public void probe() {
    int slot = health.enterSlow();
    try {
      engine.probe();
    } finally {
      health.leave(slot);
    }
  }

  @Override
  public ScanEnd scan(int segment, Consumer<Location> visitor) {
    return engine.scan(segment, visitor);
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
  public Owned pin(int segment) {
    return engine.pin(segment);
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
  public void close() {
    engine.close();
  }

  @Override
  public String toString() {
    return engine.toString();
  }
}
