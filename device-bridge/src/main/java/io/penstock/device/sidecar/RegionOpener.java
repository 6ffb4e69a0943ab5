package io.penstock.device.sidecar;

import reactor.core.publisher.Mono;

/// Opens the memory of a region for the node.
@FunctionalInterface
interface RegionOpener {
  /// @return cold; never cancelled; signals a [SideCarFailure], or what the device threw
  Mono<RegionWindow> open(SharedRegion region, Peer peer);
}
