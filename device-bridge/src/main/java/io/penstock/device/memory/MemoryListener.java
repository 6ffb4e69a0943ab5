package io.penstock.device.memory;

/// Hears of memory that is taken and given back: for gauges and figures. Called by whichever thread does it, so it must be quick and must not
/// throw.
public interface MemoryListener {
  /// `bytes` were taken.
  void taken(MemoryRung rung, long bytes);

  /// `bytes` went back.
  void givenBack(MemoryRung rung, long bytes);

  /// Memory of `source` is not what it was to be.
  void fellBack(String source, Fallback fallback);

  /// Hears nothing.
  static MemoryListener noop() {
    return new MemoryListener() {
      @Override
      public void taken(MemoryRung rung, long bytes) {}

      @Override
      public void givenBack(MemoryRung rung, long bytes) {}

      @Override
      public void fellBack(String source, Fallback fallback) {}
    };
  }
}
