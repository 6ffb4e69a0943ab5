package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.penstock.check.InternetAddress;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Endpoints of a node for peers: its sockets, with an address that the peer can reach instead of a wildcard.
///
/// @param sockets of the node, the preferred transport first
/// @param host reported instead of any discovered address; null to discover one
public record AdvertisedEndpoints(List<Endpoint> sockets, @Nullable String host) {
  private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");
  private static final int TOKEN_BYTES = 8;
  /// For a route beyond this host; never sent to (RFC 5737).
  private static final InetSocketAddress ELSEWHERE = new InetSocketAddress("198.51.100.1", 9);

  public AdvertisedEndpoints {
    sockets = List.copyOf(sockets);
  }

  /// Endpoints of a node that reports none.
  public static AdvertisedEndpoints none() {
    return new AdvertisedEndpoints(List.of(), null);
  }

  /// Endpoints that `peer` can reach: never a wildcard, and neither a loopback address nor one of a link for a peer on
  /// another host.
  ///
  /// @param peer from its connection; null, or no internet address, for one on this host
  public List<Endpoint> towards(@Nullable SocketAddress peer) {
    return sockets.stream().flatMap(socket -> towards(socket, peer).stream()).toList();
  }

  /// Endpoints that a peer behind `registry` can reach; of the default route if it is null. A name that was not looked
  /// up is of no host that is known: a wildcard has no endpoint for it.
  public List<Endpoint> shown(@Nullable SocketAddress registry) {
    return towards(registry == null ? ELSEWHERE : registry);
  }

  private Optional<Endpoint> towards(Endpoint socket, @Nullable SocketAddress peer) {
    if (!(socket.address() instanceof InetSocketAddress bound)) {
      return Optional.of(socket);
    }
    if (host != null) {
      return Optional.of(new Endpoint(socket.transport(), Endpoint.internet(host, bound.getPort())));
    }
    InetAddress ip = bound.getAddress();
    if (ip == null) {
      return Optional.of(socket);
    } else if (ip.isAnyLocalAddress()) {
      return route(peer).filter(found -> isAccepted(found, ip))
          .or(() -> isLocal(peer) || isUnknown(peer)
              ? Optional.empty()
              : route(ELSEWHERE).filter(found -> isAccepted(found, ip)))
          .map(found -> new Endpoint(socket.transport(), new InetSocketAddress(found, bound.getPort())));
    }
    return ip.isLoopbackAddress() || InternetAddress.isOfOneHost(ip)
        ? Optional.of(socket).filter(near -> isOfThisHost(peer, ip))
        : Optional.of(socket);
  }

  /// The wildcard of IPv4 accepts IPv4 alone, that of IPv6 both.
  private static boolean isAccepted(InetAddress ip, InetAddress wildcard) {
    return ip instanceof Inet4Address || wildcard instanceof Inet6Address;
  }

  private static boolean isUnknown(@Nullable SocketAddress peer) {
    return peer instanceof InetSocketAddress internet && internet.isUnresolved();
  }

  /// @param ip of this host
  private static boolean isOfThisHost(@Nullable SocketAddress peer, InetAddress ip) {
    return isLocal(peer)
        || (peer instanceof InetSocketAddress internet && ip.equals(internet.getAddress()));
  }

  private static boolean isLocal(@Nullable SocketAddress peer) {
    return !(peer instanceof InetSocketAddress internet)
        || (internet.getAddress() != null && internet.getAddress().isLoopbackAddress());
  }

  /// The address of the interface from which packets to `peer` leave: a connected UDP socket reports it, and sends
  /// nothing. Empty if there is no route, if the address is of a link, or if `peer` is a name that was not looked up.
  ///
  /// @param peer null, or no internet address, for this host
  public static Optional<InetAddress> route(@Nullable SocketAddress peer) {
    if (!(peer instanceof InetSocketAddress far) || isLocal(peer)) {
      return Optional.of(InetAddress.getLoopbackAddress());
    } else if (isUnknown(peer)) {
      return Optional.empty();
    }
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(far);
      return Optional.of(requireNonNull(socket.getLocalAddress(), "of a socket that is bound"))
          .filter(local -> !InternetAddress.isOfOneHost(local));
    } catch (SocketException e) { // no route
      return Optional.empty();
    }
  }

  /// Token that is equal for all processes of a host until its next start. It shows where an attempt to use a socket of
  /// this host makes sense; it proves nothing. Empty where the system has none.
  public static Optional<String> hostToken() {
    return Token.OF_THIS_HOST;
  }

  /// Read once: an event loop asks for it.
  private static final class Token {
    static final Optional<String> OF_THIS_HOST = readToken();

    private Token() {}
  }

  private static Optional<String> readToken() {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256")
          .digest(("penstock.host.v1" + Files.readString(BOOT).strip()).getBytes(StandardCharsets.US_ASCII));
      return Optional.of(HexFormat.of().formatHex(digest, 0, TOKEN_BYTES));
    } catch (IOException e) {
      return Optional.empty();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("JDK must have SHA-256", e);
    }
  }

}
