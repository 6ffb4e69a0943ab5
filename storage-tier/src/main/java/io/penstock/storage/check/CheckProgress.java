package io.penstock.storage.check;

/// Hears how far a check has come, on the thread that checks.
@FunctionalInterface
public interface CheckProgress {
  /// @param bytes read so far
  /// @param of bytes there are
  void read(long bytes, long of);

  /// For those who do not want to know.
  static CheckProgress none() {
    return (bytes, of) -> {};
  }
}
