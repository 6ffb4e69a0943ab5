package io.penstock.disagg.request;

/// Why a prefill rank gave up the blocks of a request.
public enum Release {
  /// All its receivers are done.
  DONE,
  /// A receiver cancelled the request.
  CANCELLED,
  /// A receiver never admitted it.
  REJECTED,
  /// No byte moved, and no receiver said that it would still read, for the life of the lease.
  EXPIRED,
  /// This side ended it.
  WITHDRAWN;

  /// The state in which the request ended on the prefill side.
  public RequestState state() {
    return this == DONE ? RequestState.SUCCESS : RequestState.FAILED;
  }
}
