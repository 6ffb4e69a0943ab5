package io.penstock.storage.engine;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Owned;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Passes every call on to another engine, also those that the port has a default for. Subclasses override some.
public abstract class ForwardingEngine implements SegmentEngine {
  private final SegmentEngine engine;

  /// @param engine closed with this
  protected ForwardingEngine(SegmentEngine engine) {
    this.engine = requireNonNull(engine, "engine");
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
  public int segmentFor(int length) {
    return engine.segmentFor(length);
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
  public void read(Location record, long from, MemorySegment first, MemorySegment next) {
    engine.read(record, from, first, next);
  }

  @Override
  public void readOnce(Location record, long from, MemorySegment into) {
    engine.readOnce(record, from, into);
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
  public SegmentWindow window(int segment, int pieceBytes) {
    return engine.window(segment, pieceBytes);
  }

  @Override
  public void cut(int segment, long end) {
    engine.cut(segment, end);
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
  public DiskSpace space() {
    return engine.space();
  }

  @Override
  public void trim() {
    engine.trim();
  }

  @Override
  public void probe() {
    engine.probe();
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
