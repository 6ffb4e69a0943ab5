package io.penstock.device.sidecar;

import io.penstock.check.Checks;
import java.time.Duration;

/// Options of the connection to a node.
///
/// @param ping between two pings
/// @param timeToLive without an answer for this long the connection counts as lost
/// @param minBackOff before the second attempt to connect or to register; doubles with each, with a jitter of a half
/// @param maxBackOff maximum back-off
/// @param maxWaiting copies that may wait in addition to the copies in flight that the node allows
public record SideCarClientOptions(Duration ping, Duration timeToLive, Duration minBackOff, Duration maxBackOff,
    int maxWaiting) {
  public SideCarClientOptions {
    Checks.atLeastOneMilli("ping", ping);
    Checks.atLeastOneMilli("minBackOff", minBackOff);
    if (timeToLive.compareTo(ping) <= 0) {
      throw new IllegalArgumentException("timeToLive must be > ping " + ping + " (was " + timeToLive + ")");
    }
    if (maxBackOff.compareTo(minBackOff) < 0) {
      throw new IllegalArgumentException(
          "maxBackOff must be >= minBackOff " + minBackOff + " (was " + maxBackOff + ")");
    }
    Checks.positive("maxWaiting", maxWaiting);
  }

  /// 1 s, 10 s, 50 ms to 5 s, 1,024.
  public static SideCarClientOptions defaults() {
    return new SideCarClientOptions(Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofMillis(50),
        Duration.ofSeconds(5), 1024);
  }

  public SideCarClientOptions withPing(Duration between) {
    return new SideCarClientOptions(between, timeToLive, minBackOff, maxBackOff, maxWaiting);
  }

  public SideCarClientOptions withTimeToLive(Duration time) {
    return new SideCarClientOptions(ping, time, minBackOff, maxBackOff, maxWaiting);
  }

  public SideCarClientOptions withBackOff(Duration min, Duration max) {
    return new SideCarClientOptions(ping, timeToLive, min, max, maxWaiting);
  }

  public SideCarClientOptions withMaxWaiting(int copies) {
    return new SideCarClientOptions(ping, timeToLive, minBackOff, maxBackOff, copies);
  }

  /// How long to wait before attempt number `attempt`, counted from 1.
  ///
  /// @param chance in [0, 1)
  public Duration backOff(int attempt, double chance) {
    double longest = Math.min(maxBackOff.toNanos(), minBackOff.toNanos() * Math.pow(2, attempt - 1.0));
    return Duration.ofNanos((long) (longest * (0.5 + chance / 2)));
  }
}
