package io.penstock.flow;

import java.util.function.Consumer;

/// The rows of an engine, as long as one load or offload uses them. Threads of a tier use them, and the thread that
/// ends or cancels the work takes them back: from then on no row is read or written, and the engine may use the memory
/// for another session. So a cancel waits for the use that is under way, which is the copy of one span.
final class LentRows {
  private final EngineRows rows;
  private boolean takenBack;

  LentRows(EngineRows rows) {
    this.rows = rows;
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

  synchronized void takeBack() {
    takenBack = true;
  }
}
