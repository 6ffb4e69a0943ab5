package io.penstock.gateway.instance;

import io.penstock.check.Checks;
import java.time.Duration;

/// How the health of instances is judged. One failure does not take an instance away, and one success does not bring it
/// back; only the first success of a new instance does.
///
/// @param interval between two probes of an instance
/// @param timeout longest wait for a probe
/// @param downAfter failures in a row that make an instance `down`
/// @param upAfter successes in a row that make it `up` again
public record HealthOptions(Duration interval, Duration timeout, int downAfter, int upAfter) {
  public HealthOptions {
    Checks.positive("interval", interval);
    Checks.positive("timeout", timeout);
    Checks.positive("downAfter", downAfter);
    Checks.positive("upAfter", upAfter);
  }

  /// Every 2 s, 1 s each, down after 3 failures, up after 2 successes.
  public static HealthOptions defaults() {
    return new HealthOptions(Duration.ofSeconds(2), Duration.ofSeconds(1), 3, 2);
  }
}
