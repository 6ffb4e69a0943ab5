package io.penstock.device.memory;

/// Hears of memory that is taken and given back: for gauges and figures. Called by whichever thread does it, so it must
/// be quick and must not throw.
public interface MemoryListener {
  /// `bytes` were taken.
  void taken(MemoryKind kind, long bytes);

  /// `bytes` went back.
  void givenBack(MemoryKind kind, long bytes);

  /// Memory of `source` is not what it was to be.
  void fellBack(String source, Fallback fallback);

  /// Hears nothing.
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
