package io.penstock.device.sim;

import io.penstock.device.CopyBatch;
import org.jspecify.annotations.Nullable;

/// Decides the faults of a [SimulatedDevice].
@FunctionalInterface
public interface CopyFaults {
  /// Called once a batch, in order, on the device's thread.
  ///
  /// @param number of the batch, from 1
  /// @param batch the copies; not to be kept
  @Nullable CopyFault of(long number, CopyBatch batch);

  static CopyFaults none() {
    return (number, batch) -> null;
  }

  /// `fault` for batch number `nth` only.
  static CopyFaults at(long nth, CopyFault fault) {
    return (number, batch) -> number == nth ? fault : null;
  }
}
