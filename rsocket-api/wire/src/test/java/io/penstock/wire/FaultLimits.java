package io.penstock.wire;

import java.time.Duration;

/// How long clients wait in a [FaultRound]. A machine that is busy must not reach a limit by itself.
///
/// @param lifetime silence after which a connection is lost
/// @param answer silence after which a request is lost, on a connection that lives
/// @param deadline of a transfer
record FaultLimits(Duration lifetime, Duration answer, Duration deadline) {
  /// For a few connections at a time.
  static final FaultLimits SHORT =
      new FaultLimits(Duration.ofSeconds(10), Duration.ofSeconds(8), Duration.ofSeconds(12));
  /// For hundreds of connections at a time.
  static final FaultLimits LONG =
      new FaultLimits(Duration.ofSeconds(20), Duration.ofSeconds(15), Duration.ofSeconds(20));
}
