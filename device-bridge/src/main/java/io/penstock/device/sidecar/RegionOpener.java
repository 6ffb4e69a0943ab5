package io.penstock.device.sidecar;

import reactor.core.publisher.Mono;

/// Has the node reach the memory of a region.
@FunctionalInterface
interface RegionOpener {
  /// @return cold; never cancelled; signals a [SideCarFailure], or what the device threw
  Mono<RegionWindow> open(SharedRegion region, Peer peer);
}
