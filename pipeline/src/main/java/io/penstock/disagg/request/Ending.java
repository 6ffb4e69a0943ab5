package io.penstock.disagg.request;

/// End of a request on the receiving side.
public enum Ending {
  /// All blocks arrived.
  READY,
  /// The receiver had all blocks before, and only informed its sources.
  NOTHING_TO_MOVE,
  /// Some blocks did not arrive, and the engine computes them.
  RECOMPUTE,
  /// Some blocks did not arrive.
  FAILED,
  /// The engine, or its client, cancelled the request.
  CANCELLED;

  /// The one state in which the request ends.
  public RequestState state() {
    return this == READY || this == NOTHING_TO_MOVE ? RequestState.SUCCESS : RequestState.FAILED;
  }
}
