package io.penstock.wire;

import java.time.Duration;

/// How long clients wait in a [FaultRound].
///
/// @param lifetime silence after which a connection is lost
/// @param answer silence after which a request is lost, on a connection that lives
/// @param deadline of a transfer
record FaultLimits(Duration lifetime, Duration answer, Duration deadline) {
  /// A client's limit for answers is that of an event loop, and real.
  static FaultLimits defaults() {
    return new FaultLimits(Duration.ofSeconds(12), Duration.ofSeconds(6), Duration.ofSeconds(15));
  }
}
