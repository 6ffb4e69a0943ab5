package io.penstock.node.serve;

import io.penstock.check.InternetAddress;
import io.penstock.disagg.registry.Registration;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.transport.AdvertisedEndpoints;
import io.penstock.wire.transport.TransportKind;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/// Where a rank says that it listens, at each registration. A registry that moved may reach the rank elsewhere than
/// before; one that knows the rank from before its move keeps the endpoint that it knows, for it takes no other one of
/// the same generation. Safe from any thread.
final class RankPlace {
  private final NodeConfig config;
  private final AdvertisedEndpoints places;
  private Registration.@Nullable Endpoint accepted;
  private Registration.@Nullable Endpoint tried;
  private boolean isKept;

  /// @param places where the node listens
  RankPlace(NodeConfig config, AdvertisedEndpoints places) {
    this.config = config;
    this.places = places;
  }

  /// Endpoint for ranks behind the registry.
  ///
  /// @param registry as the connection shows it; null for one on this host
  synchronized Registration.Endpoint towards(@Nullable SocketAddress registry) {
    Registration.Endpoint before = accepted;
    Registration.Endpoint next = isKept && before != null ? before : reached(registry);
    tried = next;
    return next;
  }

  private Registration.Endpoint reached(@Nullable SocketAddress registry) {
    return places.towards(registry).stream().filter(place -> place.transport() == TransportKind.TCP)
        .filter(place -> !InternetAddress.isOfOneHost(place.host())).findFirst()
        .map(place -> new Registration.Endpoint(place.host(), place.port()))
        .orElseThrow(() -> new IllegalArgumentException(
            "listen.host must be one that ranks behind the registry reach by TCP, or advertise.host name one (was %s)"
                .formatted(config.get(NodeSettings.LISTEN_HOST))));
  }

  /// The registry took the last endpoint.
  synchronized void accepted() {
    accepted = tried;
    isKept = false;
  }

  /// Whether to register again with the endpoint that was accepted before, as the registry refuses the last one.
  synchronized boolean isToBeKept(Throwable refusal) {
    isKept = refusal instanceof RemotePermanentException remote && "endpoint".equals(remote.field())
        && accepted != null && !accepted.equals(tried);
    return isKept;
  }
}
