package io.penstock.flow;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The rows of an engine, as long as one load or offload uses them. Threads of a tier use them, and the thread that
/// ends or cancels the work takes them back: from then on no row is read or written, and the engine may use the memory
/// for another session. So a cancel waits for the use that is under way, which is the copy of one span.
final class LentRows {
  private final EngineRows rows;
  private boolean takenBack;

  LentRows(EngineRows rows) {
    this.rows = rows;
  }

  /// The row of `engine` that is copied from or to `bytes`: both must have one length. A copy of a shorter row would
  /// leave bytes of another block in a slot that is used again.
  ///
  /// @throws IllegalArgumentException if the row has another length
  static MemorySegment row(EngineRows engine, int layer, int plane, int token, MemorySegment bytes) {
    @Nullable MemorySegment row = engine.row(layer, plane, token);
    if (row == null || row.byteSize() != bytes.byteSize()) {
      throw new IllegalArgumentException("row (layer %d, plane %d, token %d) must be %d bytes (was %s)".formatted(layer,
          plane, token, bytes.byteSize(), row == null ? "null" : row.byteSize()));
    }
    return row;
  }

  /// Calls `use` unless the rows were taken back.
  ///
  /// @return whether it was called
  synchronized boolean use(Consumer<EngineRows> use) {
    if (!takenBack) {
      use.accept(rows);
    }
    return !takenBack;
  }

  synchronized boolean isTakenBack() {
    return takenBack;
  }

  synchronized void takeBack() {
    takenBack = true;
  }
}
