package io.penstock.disagg.registry;

import io.penstock.check.Checks;

/// Bounds of what a registry keeps, in total and from one source: strangers at one address leave room for others.
///
/// @param ranks maximum number of registered or claimed ranks, and of ranks that are gone whose generation is known
/// @param addressRanks maximum number of ranks that peers at one address registered
/// @param connectionRanks maximum number of ranks that one connection registered
/// @param instances maximum number of instances
/// @param layers maximum number of layers, planes and stages in one manifest
/// @param requests maximum number of requests whose replica is remembered
/// @param addressRequests maximum number of these that peers at one address reported
public record RegistryBounds(int ranks, int addressRanks, int connectionRanks, int instances, int layers, int requests,
    int addressRequests) {
  public RegistryBounds {
    Checks.positive("ranks", ranks);
    Checks.positive("addressRanks", addressRanks);
    Checks.positive("connectionRanks", connectionRanks);
    Checks.positive("instances", instances);
    Checks.positive("layers", layers);
    Checks.positive("requests", requests);
    Checks.positive("addressRequests", addressRequests);
  }

  /// 65,536 ranks, 1,024 of an address, 512 of a connection, 8,192 instances of manifests with 1,024 layers, 1,048,576
  /// requests, a quarter of them of one address.
  public static RegistryBounds defaults() {
    return new RegistryBounds(1 << 16, 1 << 10, 1 << 9, 1 << 13, 1 << 10, 1 << 20, 1 << 18);
  }

  /// Bounds with other numbers of ranks.
  public RegistryBounds withRanks(int total, int ofAddress, int ofConnection) {
    return new RegistryBounds(total, ofAddress, ofConnection, instances, layers, requests, addressRequests);
  }

  /// Bounds with other numbers of requests.
  public RegistryBounds withRequests(int total, int ofAddress) {
    return new RegistryBounds(ranks, addressRanks, connectionRanks, instances, layers, total, ofAddress);
  }
}
