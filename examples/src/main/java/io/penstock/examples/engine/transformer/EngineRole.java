package io.penstock.examples.engine.transformer;

/// What an engine does for a request.
public enum EngineRole {
  /// Computes prompts, and keeps their KV cache for decodes.
  PREFILL,
  /// Loads the KV cache of prompts, and generates.
  DECODE,
  /// Does both.
  BOTH;

  /// Whether the engine has blocks for others.
  boolean keepsBlocks() {
    return this != DECODE;
  }
}
