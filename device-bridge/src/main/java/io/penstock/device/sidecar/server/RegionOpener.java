package io.penstock.device.sidecar.server;

import io.penstock.device.sidecar.RegionSpec;
import java.nio.file.attribute.UserPrincipal;
import reactor.core.publisher.Mono;

/// Opens the memory of a region for the node.
@FunctionalInterface
interface RegionOpener {
  /// @return cold; never cancelled; signals a `SideCarFailure`, or what the device threw
  Mono<RegionWindow> open(RegionSpec region, RegionOwner owner);

  /// The process that registers regions.
  ///
  /// @param user its user, from the socket
  /// @param process its number, from the process itself
  record RegionOwner(UserPrincipal user, int process) {}
}
