package io.penstock.storage;

import io.penstock.storage.engine.ForwardingEngine;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// An engine that does what another one does, but for what a test overrides: each read is one of [#read(Location, long,
/// MemorySegment)]. It has no place for small files.
public class WrappedEngine extends ForwardingEngine {
  public WrappedEngine(SegmentEngine engine) {
    super(engine);
  }

  @Override
  public @Nullable Path directory() {
    return null;
  }

  @Override
  public void read(Location record, long from, MemorySegment first, MemorySegment next) {
    read(record, from + first.byteSize(), next);
    read(record, from, first);
  }

  @Override
  public void readOnce(Location record, long from, MemorySegment into) {
    read(record, from, into);
  }
}
