package io.penstock.node.bench;

import io.penstock.KvException;
import io.penstock.node.text.Reason;
import java.io.IOException;

/// Says that nothing could be measured: that is no bad figure, and has another exit code.
final class BenchFailure {
  private BenchFailure() {}

  /// What `work` gives.
  ///
  /// @throws IOException if a store does not take or give blocks
  static <T> T guarded(Work<T> work) throws IOException {
    try {
      return work.call();
    } catch (KvException e) {
      throw new IOException(Reason.after("nothing could be measured", e), e);
    }
  }

  /// A measurement, or what comes before.
  interface Work<T> {
    T call() throws IOException;
  }
}
