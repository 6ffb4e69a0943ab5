package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/// Bounds of a node's side of the side-car.
///
/// @param maxClients processes at once
/// @param maxRegions of each
/// @param maxCopies calls of each that may be in flight
/// @param timeToLive after so long without a word a client is taken for dead
public record SideCarServerOptions(int maxClients, int maxRegions, int maxCopies, Duration timeToLive) {
  /// Most regions of a client: all of them are named in one frame.
  public static final int MAX_REGIONS = 16_384;

  public SideCarServerOptions {
    requirePositive("maxClients", maxClients);
    requirePositive("maxRegions", maxRegions);
    requirePositive("maxCopies", maxCopies);
    if (maxRegions > MAX_REGIONS) {
      throw new IllegalArgumentException("maxRegions must be <= " + MAX_REGIONS + " (was " + maxRegions + ")");
    }
    if (requireNonNull(timeToLive, "timeToLive").toMillis() <= 0) {
      throw new IllegalArgumentException("timeToLive must be >= 1 ms (was " + timeToLive + ")");
    }
  }

  private static void requirePositive(String name, int value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be > 0 (was " + value + ")");
    }
  }

  /// 16 clients of 1,024 regions and 32 copies, 10 s.
  public static SideCarServerOptions defaults() {
    return new SideCarServerOptions(16, 1024, 32, Duration.ofSeconds(10));
  }

  /// Most requests of a client that wait for their answers: copies, and what is done to regions. More is a client that floods.
  int maxOpen() {
    return 2 * Math.addExact(maxCopies, maxRegions);
  }

  public SideCarServerOptions withMaxClients(int clients) {
    return new SideCarServerOptions(clients, maxRegions, maxCopies, timeToLive);
  }

  public SideCarServerOptions withMaxRegions(int regions) {
    return new SideCarServerOptions(maxClients, regions, maxCopies, timeToLive);
  }

  public SideCarServerOptions withMaxCopies(int copies) {
    return new SideCarServerOptions(maxClients, maxRegions, copies, timeToLive);
  }

  public SideCarServerOptions withTimeToLive(Duration time) {
    return new SideCarServerOptions(maxClients, maxRegions, maxCopies, time);
  }
}
