package io.penstock.disagg.registry;

import io.penstock.check.Checks;
import java.time.Duration;

/// Times and bounds of a registry.
///
/// @param heartbeat interval between two signs of life of a rank
/// @param misses number of heartbeats that a rank may miss
/// @param bootstrap maximum time until all ranks of an instance have registered
/// @param replicaLife time for which the data-parallel replica of a request is remembered
/// @param mostRanks maximum number of registered ranks
/// @param mostRequests maximum number of requests whose replica is remembered
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
