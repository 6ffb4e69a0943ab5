package io.penstock.wire.report;

/// Counts bytes of slices by carrier.
@FunctionalInterface
public interface Carried {
  Carried UNCOUNTED = (bytes, shared) -> {};

  /// Counts a slice that was sent or received.
  ///
  /// @param shared whether its bytes were read in the memory of the sender
  void count(long bytes, boolean shared);
}
