package io.penstock.device.sim;

import org.jspecify.annotations.Nullable;

/// Decides what goes wrong with a [SimulatedDevice].
@FunctionalInterface
public interface CopyFaults {
  /// Asked once a batch, in order, on the device's thread.
  ///
  /// @param batch number of the batch, from 1
  @Nullable CopyFault of(long batch);

  static CopyFaults none() {
    return batch -> null;
  }

  /// `fault` for batch number `nth` only.
  static CopyFaults at(long nth, CopyFault fault) {
    return batch -> batch == nth ? fault : null;
  }
}
