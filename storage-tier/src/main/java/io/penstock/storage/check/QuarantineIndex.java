package io.penstock.storage.check;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;

/// Where the index of a quarantine ends: a line that was cut off keeps none behind it from being one. Safe from any
/// thread.
final class QuarantineIndex {
  @GuardedBy("this") private boolean isCut;

  /// @param isCut whether it ends in the midst of a line
  QuarantineIndex(boolean isCut) {
    this.isCut = isCut;
  }

  /// Writes `line` behind what is there, as a line of its own; one thread at a time, for how it begins hangs on how the
  /// one before ended.
  ///
  /// @param line with its end
  synchronized void append(String line, WritableByteChannel to) throws IOException {
    ByteBuffer bytes = StandardCharsets.UTF_8.encode(isCut ? "\n" + line : line);
    try {
      while (bytes.hasRemaining()) {
        to.write(bytes);
      }
    } finally {
      if (bytes.position() > 0) {
        isCut = bytes.hasRemaining();
      }
    }
  }
}
