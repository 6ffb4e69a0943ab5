package io.penstock.lab.bench.side;

import io.penstock.KvException;
import io.penstock.node.text.Reason;
import java.io.IOException;

/// Says that nothing could be measured: that is no bad figure, and has another exit code.
public final class BenchFailure {
  private BenchFailure() {}

  /// What `work` gives.
  ///
  /// @throws IOException if a store does not take or give blocks
  public static <T> T guarded(Work<T> work) throws IOException {
    try {
      return work.call();
    } catch (KvException e) {
      throw new IOException(Reason.after("nothing could be measured", e), e);
    }
  }

  /// A measurement, or what comes before.
  public interface Work<T> {
    T call() throws IOException;
  }
}
