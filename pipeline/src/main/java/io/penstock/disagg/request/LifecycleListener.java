package io.penstock.disagg.request;

/// Receives the ends of requests. Called outside locks; must be quick and must not throw.
///
/// *Ready at decode* and *released at prefill* are two signals: a request whose blocks the decode side had already is
/// never ready through a transfer, and is still released.
public interface LifecycleListener {
  /// All blocks of a request have arrived at this rank, at least one of them by a move.
  default void ready(Received received) {}

  /// A request of this receiving rank has ended, in any way; called once.
  default void ended(Received received) {}

  /// This prefill rank no longer keeps blocks of the request.
  default void released(String request, Release release) {}

  /// A listener that ignores everything.
  static LifecycleListener noop() {
    return new LifecycleListener() {};
  }
}
