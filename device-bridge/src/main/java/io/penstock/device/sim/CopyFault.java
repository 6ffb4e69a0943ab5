package io.penstock.device.sim;

/// Fault of a batch of a [SimulatedDevice].
public sealed interface CopyFault {
  /// The device fails at an element; some of the others were copied, some were not.
  ///
  /// @param element reported as the one that failed
  /// @param code answer of the driver
  record Fail(int element, int code) implements CopyFault {}

  /// The batch succeeds, with one bit of an element flipped where it arrived.
  record Corrupt(int element, long offset) implements CopyFault {}
}
