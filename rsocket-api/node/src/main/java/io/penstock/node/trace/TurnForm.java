package io.penstock.node.trace;

/// The blocks that the later lines of a session list.
public enum TurnForm {
  /// All blocks of the prompt.
  WHOLE,
  /// Only the blocks that are new since the line before, as AIPerf's agent traces do.
  NEW
}
