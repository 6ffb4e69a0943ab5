package io.penstock.disagg.registry;

import io.penstock.check.Checks;
import java.time.Duration;

/// Times and bounds of a registry.
///
/// @param heartbeat how often a rank says that it lives
/// @param misses heartbeats that may be missed before a rank is gone
/// @param bootstrap how long the ranks of an instance may take to come
/// @param replicaLife how long it is known which data-parallel replica has a request
/// @param mostRanks ranks that may be registered
/// @param mostRequests requests whose replica is known
public record RegistryOptions(Duration heartbeat, int misses, Duration bootstrap, Duration replicaLife, int mostRanks,
    int mostRequests) {
  public RegistryOptions {
    Checks.atLeastOneMilli("heartbeat", heartbeat);
    Checks.positive("misses", misses);
    Checks.atLeastOneMilli("bootstrap", bootstrap);
    Checks.atLeastOneMilli("replicaLife", replicaLife);
    Checks.positive("mostRanks", mostRanks);
    Checks.positive("mostRequests", mostRequests);
  }

  /// A heartbeat each 5 s of which 2 may be missed, 300 s for an instance to come, replicas known for 120 s, 65,536
  /// ranks, 1,048,576 requests.
  public static RegistryOptions defaults() {
    return new RegistryOptions(Duration.ofSeconds(5), 2, Duration.ofSeconds(300), Duration.ofSeconds(120), 1 << 16,
        1 << 20);
  }

  public RegistryOptions withHeartbeat(Duration interval, int mayMiss) {
    return new RegistryOptions(interval, mayMiss, bootstrap, replicaLife, mostRanks, mostRequests);
  }

  public RegistryOptions withBootstrap(Duration time) {
    return new RegistryOptions(heartbeat, misses, time, replicaLife, mostRanks, mostRequests);
  }

  /// Time without a heartbeat after which a rank is gone.
  Duration silence() {
    return heartbeat.multipliedBy(misses);
  }
}
