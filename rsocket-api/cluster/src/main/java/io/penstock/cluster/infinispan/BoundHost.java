package io.penstock.cluster.infinispan;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// The address that a member binds, and the one that it tells others.
///
/// @param told null if it is the bound one
record BoundHost(InetAddress bound, @Nullable InetAddress told) {
  /// Resolves a host. If it stands for all addresses of this machine, others are told one of them: of a site rather
  /// than a public one, and the loopback only if there is no other.
  static BoundHost of(String host) throws IOException {
    InetAddress bound = InetAddress.getByName(host);
    return new BoundHost(bound, bound.isAnyLocalAddress() ? reachable(bound) : null);
  }

  private static InetAddress reachable(InetAddress any) throws IOException {
    return NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
        .filter(address -> address.getClass().equals(any.getClass()) && !address.isLinkLocalAddress())
        .min(
            Comparator.comparing(InetAddress::isLoopbackAddress).thenComparing(address -> !address.isSiteLocalAddress())
                .thenComparing(InetAddress::getHostAddress))
        .orElse(InetAddress.getLoopbackAddress());
  }
}
