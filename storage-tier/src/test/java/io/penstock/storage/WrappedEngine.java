package io.penstock.storage;

import io.penstock.block.Owned;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.ScanEnd;
import io.penstock.storage.engine.SegmentEngine;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;

/// An engine that does what another one does, but for what a test overrides.
class WrappedEngine implements SegmentEngine {
  private final SegmentEngine engine;

  WrappedEngine(SegmentEngine engine) {
    this.engine = engine;
  }

  @Override
  public String name() {
    return engine.name();
  }

  @Override
  public int maxRecordBytes() {
    return engine.maxRecordBytes();
  }

  @Override
  public Location append(MemorySegment... parts) {
    return engine.append(parts);
  }

  @Override
  public void read(Location record, long from, MemorySegment into) {
    engine.read(record, from, into);
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
  public void delete(int segment) {
    engine.delete(segment);
  }

  @Override
  public void sync() {
    engine.sync();
  }

  @Override
  public void probe() {
    engine.probe();
  }

  @Override
  public void close() {
    engine.close();
  }
}
