package io.penstock.storage.engine;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// Parts of memory that make a record.
public final class RecordParts {
  private RecordParts() {}

  /// Length of the record that `parts` make; checks every rule of the port.
  public static int length(MemorySegment[] parts, int most) {
    long length = 0;
    for (MemorySegment part : parts) {
      if (!part.isNative()) {
        throw new IllegalArgumentException("record must be native memory (was " + part + ")");
      }
      length += part.byteSize();
    }
    if (length == 0 || length > most || length % SegmentEngine.RECORD_ALIGNMENT != 0) {
      throw new IllegalArgumentException("record bytes must be a multiple of " + SegmentEngine.RECORD_ALIGNMENT
          + " in (0, " + most + "] (was " + length + ")");
    }
    return (int) length;
  }

  /// Length of all of `parts`.
  public static long bytes(MemorySegment[] parts) {
    long bytes = 0;
    for (MemorySegment part : parts) {
      bytes += part.byteSize();
    }
    return bytes;
  }

  /// Buffers of `parts`, with room for `after` more.
  public static ByteBuffer[] buffers(MemorySegment[] parts, int after) {
    ByteBuffer[] buffers = new ByteBuffer[parts.length + after];
    for (int i = 0; i < parts.length; i++) {
      buffers[i] = parts[i].asByteBuffer();
    }
    return buffers;
  }
}
