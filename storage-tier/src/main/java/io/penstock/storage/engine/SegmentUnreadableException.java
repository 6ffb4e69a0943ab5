package io.penstock.storage.engine;

import java.io.IOException;
import java.nio.file.Path;

/// The medium does not give a part of a segment.
public final class SegmentUnreadableException extends StorageFailedException {
  private final long offset;

  SegmentUnreadableException(Path file, long offset, IOException cause) {
    super("read " + file + " from " + offset + " on", cause);
    this.offset = offset;
  }

  /// Offset of the first byte that the medium does not give.
  public long offset() {
    return offset;
  }
}
