package io.penstock.device.memory;

/// Receives allocations and frees of host memory, for gauges. Called on the thread that makes them, so it must be quick
/// and must not throw.
public interface MemoryListener {
  /// `bytes` were taken.
  void taken(MemoryKind kind, long bytes);

  /// `bytes` went back.
  void givenBack(MemoryKind kind, long bytes);

  /// Memory of `source` is of another kind than wanted.
  void fellBack(String source, Fallback fallback);

  /// Ignores everything.
  static MemoryListener noop() {
    return new MemoryListener() {
      @Override
      public void taken(MemoryKind kind, long bytes) {}

      @Override
      public void givenBack(MemoryKind kind, long bytes) {}

      @Override
      public void fellBack(String source, Fallback fallback) {}
    };
  }
}
