package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.time.Duration;

/// Times and bounds of a registry.
///
/// @param heartbeat interval between two signs of life of a rank
/// @param misses number of heartbeats that a rank may miss
/// @param bootstrap maximum time until all ranks of an instance have registered
/// @param replicaLife time for which the data-parallel replica of a request is remembered
public record RegistryOptions(Duration heartbeat, int misses, Duration bootstrap, Duration replicaLife,
    RegistryBounds bounds) {
  public RegistryOptions {
    Checks.atLeastOneMilli("heartbeat", heartbeat);
    Checks.positive("misses", misses);
    Checks.atLeastOneMilli("bootstrap", bootstrap);
    Checks.atLeastOneMilli("replicaLife", replicaLife);
    requireNonNull(bounds, "bounds");
  }

  /// A heartbeat each 5 s of which 2 may be missed, 300 s for an instance to come, replicas known for 120 s, and
  /// [RegistryBounds#defaults()].
  public static RegistryOptions defaults() {
    return new RegistryOptions(Duration.ofSeconds(5), 2, Duration.ofSeconds(300), Duration.ofSeconds(120),
        RegistryBounds.defaults());
  }

  public RegistryOptions withHeartbeat(Duration interval, int mayMiss) {
    return new RegistryOptions(interval, mayMiss, bootstrap, replicaLife, bounds);
  }

  public RegistryOptions withBootstrap(Duration time) {
    return new RegistryOptions(heartbeat, misses, time, replicaLife, bounds);
  }

  public RegistryOptions withBounds(RegistryBounds other) {
    return new RegistryOptions(heartbeat, misses, bootstrap, replicaLife, other);
  }

  /// Time without a heartbeat after which a rank is gone.
  Duration silence() {
    return heartbeat.multipliedBy(misses);
  }
}
