package io.penstock.wire.client;

import io.penstock.check.Checks;
import java.time.Duration;

/// How a connection to a peer is opened when work wants it, closed when idle, and opened again after it was lost.
///
/// @param idleAfter time without work after which a connection is closed
/// @param backOff longest wait before the second attempt to connect; what a node that is gone is left alone for doubles
///     from it
/// @param mostBackOff longest time for which a node that is gone is left alone
/// @param patience how long a rank that cannot be reached may come back before its process counts as gone, see
///     `RankViews`
public record KvPeerOptions(Duration idleAfter, Duration backOff, Duration mostBackOff, Duration patience) {
  public KvPeerOptions {
    Checks.atLeastOneMilli("idleAfter", idleAfter);
    Checks.atLeastOneMilli("backOff", backOff);
    Checks.atLeastOneMilli("patience", patience);
    if (mostBackOff.compareTo(backOff) < 0) {
      throw new IllegalArgumentException("mostBackOff must be >= backOff " + backOff + " (was " + mostBackOff + ")");
    }
  }

  /// Closed after a minute without work; back-off from 100 ms to 10 s; 5 s of patience.
  public static KvPeerOptions defaults() {
    return new KvPeerOptions(Duration.ofMinutes(1), Duration.ofMillis(100), Duration.ofSeconds(10),
        Duration.ofSeconds(5));
  }

  public KvPeerOptions withIdleAfter(Duration time) {
    return new KvPeerOptions(time, backOff, mostBackOff, patience);
  }

  public KvPeerOptions withBackOff(Duration first, Duration most) {
    return new KvPeerOptions(idleAfter, first, most, patience);
  }

  public KvPeerOptions withPatience(Duration time) {
    return new KvPeerOptions(idleAfter, backOff, mostBackOff, time);
  }
}
