package io.penstock.storage;

import io.penstock.storage.engine.ChronicleEngine;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.engine.PlainEngine;
import io.penstock.storage.engine.SegmentEngine;
import java.nio.file.Path;

/// Which engine keeps the records.
public enum EngineKind {
  /// Chronicle Queue.
  CHRONICLE,
  /// Plain files; needs no JVM flag.
  PLAIN,
  /// Memory outside the heap, gone at the end: for tests and simulation.
  MEMORY;

  SegmentEngine open(Path directory, EngineOptions options) {
    return switch (this) {
      case CHRONICLE -> ChronicleEngine.open(directory, options);
      case PLAIN -> PlainEngine.open(directory, options);
      case MEMORY -> MemoryEngine.open(new MemoryDisk(), options);
    };
  }
}
