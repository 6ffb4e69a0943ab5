package io.penstock.wire.report;

/// Counts bytes of slices by what carried them.
@FunctionalInterface
public interface Carried {
  Carried UNCOUNTED = (bytes, shared) -> {};

  /// A slice went, or came.
  ///
  /// @param shared whether its bytes were read in the memory of the sender
  void count(long bytes, boolean shared);
}
