package io.penstock.storage.check;

/// Receives the progress of a check, on the thread that checks.
@FunctionalInterface
public interface CheckProgress {
  /// @param bytes read so far
  /// @param of all bytes
  void read(long bytes, long of);

  /// Ignores the progress.
  static CheckProgress none() {
    return (bytes, of) -> {};
  }
}
