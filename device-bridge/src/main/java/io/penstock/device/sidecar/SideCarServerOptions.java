package io.penstock.device.sidecar;

import io.penstock.check.Checks;
import java.time.Duration;

/// Bounds of a node's side of the side-car.
///
/// @param maxClients processes at once
/// @param maxRegions of each
/// @param maxCopies calls of each that may be in flight
/// @param maxClientBytes host memory that one client may have mapped: all pages of a memfd are made when it is
///     registered, however sparse it is
/// @param maxBytes host memory of all clients together
/// @param timeToLive silence after which a client counts as dead
public record SideCarServerOptions(int maxClients, int maxRegions, int maxCopies, long maxClientBytes, long maxBytes,
    Duration timeToLive) {
  /// Maximum number of regions of a client: all of them are named in one frame.
  public static final int MAX_REGIONS = 16_384;
  /// Default host memory of one client.
  public static final long DEFAULT_CLIENT_BYTES = 64L << 30;
  /// Default host memory of all clients.
  public static final long DEFAULT_BYTES = 256L << 30;

  public SideCarServerOptions {
    Checks.positive("maxClients", maxClients);
    Checks.positive("maxRegions", maxRegions);
    Checks.positive("maxCopies", maxCopies);
    if (maxRegions > MAX_REGIONS) {
      throw new IllegalArgumentException("maxRegions must be <= " + MAX_REGIONS + " (was " + maxRegions + ")");
    }
    Checks.positive("maxClientBytes", maxClientBytes);
    Checks.positive("maxBytes", maxBytes);
    Checks.atLeastOneMilli("timeToLive", timeToLive);
  }

  /// 16 clients of 1,024 regions, 32 copies and 64 GiB, 256 GiB in all, 10 s.
  public static SideCarServerOptions defaults() {
    return new SideCarServerOptions(16, 1024, 32, DEFAULT_CLIENT_BYTES, DEFAULT_BYTES, Duration.ofSeconds(10));
  }

  /// Maximum number of requests of a client that wait for their answers: copies, and operations on regions. A client
  /// with more floods the node.
  public int maxOpen() {
    return 2 * Math.addExact(maxCopies, maxRegions);
  }

  public SideCarServerOptions withMaxClients(int clients) {
    return new SideCarServerOptions(clients, maxRegions, maxCopies, maxClientBytes, maxBytes, timeToLive);
  }

  public SideCarServerOptions withMaxRegions(int regions) {
    return new SideCarServerOptions(maxClients, regions, maxCopies, maxClientBytes, maxBytes, timeToLive);
  }

  public SideCarServerOptions withMaxCopies(int copies) {
    return new SideCarServerOptions(maxClients, maxRegions, copies, maxClientBytes, maxBytes, timeToLive);
  }

  /// @param client bytes of one
  /// @param all bytes of all of them together
  public SideCarServerOptions withMaxBytes(long client, long all) {
    return new SideCarServerOptions(maxClients, maxRegions, maxCopies, client, all, timeToLive);
  }

  public SideCarServerOptions withTimeToLive(Duration time) {
    return new SideCarServerOptions(maxClients, maxRegions, maxCopies, maxClientBytes, maxBytes, time);
  }
}
