package io.penstock.storage;

import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.ChronicleEngine;
import io.penstock.storage.engine.file.PlainEngine;
import java.nio.file.Path;

/// Engine of the records.
public enum EngineKind {
  /// Chronicle Queue.
  CHRONICLE,
  /// Plain files; needs no JVM flag.
  PLAIN;

  /// Refuses an engine that this process cannot run. Touches no file.
  void require() {
    if (this == CHRONICLE) {
      ChronicleEngine.require();
    }
  }

  SegmentEngine open(Path directory, EngineOptions options) {
    return switch (this) {
      case CHRONICLE -> ChronicleEngine.open(directory, options);
      case PLAIN -> PlainEngine.open(directory, options);
    };
  }
}
