package io.penstock.stage;

/// Hears what stages do to bytes, for meters. Called on hot paths: must be quick and must not block.
public interface StageListener {
  /// `bytes` of payload were copied within off-heap memory.
  default void copied(long bytes) {}

  /// Hears nothing.
  static StageListener noop() {
    return new StageListener() {};
  }
}
