package io.penstock.disagg.request;

/// What goes wrong with one request, and when.
///
/// @param step slices of the shard before the fault, or the share of the request's life in tenths
/// @param attempts how many attempts it hits
record LifecycleFault(Kind kind, int step, int attempts) {
  static final LifecycleFault NONE = new LifecycleFault(Kind.NONE, 0, 0);

  enum Kind {
    NONE, KILL_PREFILL, KILL_DECODE, DROP, STALL, FLIP, EXPIRE, CANCEL, DUPLICATE, LATE, RESTART
  }
}
