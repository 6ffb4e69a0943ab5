package io.penstock.wire.pause;

import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.disagg.request.LifecycleOptions;
import java.time.Duration;
import java.util.Random;

/// Limits of the processes under load. All are shorter than the standstills that they must survive.
///
/// @param heartbeat a rank is dropped after two of them
/// @param lease of a kept request, and of blocks at the node; renewed three times within its life
record PauseLimits(Duration heartbeat, Duration lease) {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  static PauseLimits read(String[] arguments, int at) {
    return new PauseLimits(Duration.ofMillis(Long.parseLong(arguments[at])),
        Duration.ofMillis(Long.parseLong(arguments[at + 1])));
  }

  RegistryOptions registry() {
    return RegistryOptions.defaults().withHeartbeat(heartbeat, 2);
  }

  LifecycleOptions lifecycle() {
    return LifecycleOptions.defaults().withLease(lease, Duration.ofHours(1))
        .withPatience(new LifecycleOptions.Patience(lease, PATIENCE, PATIENCE, Duration.ofSeconds(10)))
        .withSignals(new LifecycleOptions.Signals(16, Duration.ofSeconds(5)));
  }

  /// How long a request is under way before its bytes move: up to a lease and a half, so it must be renewed.
  Duration move(Random random) {
    return Duration.ofMillis(1 + random.nextLong(lease.toMillis() * 3 / 2));
  }
}
