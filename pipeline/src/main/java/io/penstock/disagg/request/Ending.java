package io.penstock.disagg.request;

/// How a request ended on the receiving side.
public enum Ending {
  /// All blocks came.
  READY,
  /// The receiver had all blocks before, and only told its sources.
  NOTHING_TO_MOVE,
  /// Some blocks did not come, and the engine computes them.
  RECOMPUTE,
  /// Some blocks did not come.
  FAILED,
  /// The engine, or its client, cancelled the request.
  CANCELLED;

  /// The one state in which the request ends.
  public RequestState state() {
    return this == READY || this == NOTHING_TO_MOVE ? RequestState.SUCCESS : RequestState.FAILED;
  }
}
