package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.netty.channel.local.LocalAddress;
import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.check.InternetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/// Address of a node, and its transport.
///
/// | Written | Means |
/// |---|---|
/// | `HOST:PORT`, `tcp://HOST:PORT` | TCP; IPv6 stands in brackets, with its link if need be: `[fe80::1%eth0]:7733` |
/// | `unix:PATH` | a Unix domain socket of this host |
/// | `ws://HOST:PORT/penstock` | WebSocket; the path may be left out |
/// | `local:NAME` | a listener of this process |
public record Endpoint(TransportKind transport, SocketAddress address) {
  /// Path of a node's WebSocket.
  public static final String WEB_SOCKET_PATH = "/penstock";

  private static final String UDS = "unix:";
  private static final String WS = "ws://";
  private static final String LOCAL = "local:";

  public Endpoint {
    requireNonNull(transport, "transport");
    boolean fits = switch (transport) {
      case TCP, WS -> address instanceof InetSocketAddress;
      case UDS -> address instanceof DomainSocketAddress;
      case LOCAL -> address instanceof LocalAddress;
    };
    if (!fits) {
      throw new IllegalArgumentException("address must be one of " + transport.word() + " (was " + address + ")");
    }
  }

  public static Endpoint tcp(String host, int port) {
    return new Endpoint(TransportKind.TCP, internet(host, port));
  }

  public static Endpoint webSocket(String host, int port) {
    return new Endpoint(TransportKind.WS, internet(host, port));
  }

  public static Endpoint unix(Path socket) {
    return new Endpoint(TransportKind.UDS, new DomainSocketAddress(socket.toString()));
  }

  public static Endpoint local(String name) {
    return new Endpoint(TransportKind.LOCAL, new LocalAddress(name));
  }

  /// @throws IllegalArgumentException if `text` is none of the forms above
  public static Endpoint parse(String text) {
    try {
      if (text.startsWith(UDS) && text.length() > UDS.length()) {
        return unix(Path.of(text.substring(UDS.length())));
      } else if (text.startsWith(LOCAL) && text.length() > LOCAL.length()) {
        return local(text.substring(LOCAL.length()));
      } else if (text.startsWith(WS)) {
        return new Endpoint(TransportKind.WS, InternetAddress.parse(withoutPath(text)));
      }
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(
          "address must be unix: and a path of this system (was " + text + ": " + e.getReason() + ")", e);
    }
    if (text.indexOf(':') < 0) {
      throw new IllegalArgumentException("address must be HOST:PORT with a port from 1 to 65535, unix:PATH or"
          + " ws://HOST:PORT" + WEB_SOCKET_PATH + " (was " + text + ")");
    }
    return new Endpoint(TransportKind.TCP, InternetAddress.parse(text));
  }

  private static String withoutPath(String url) {
    String place = url.substring(WS.length());
    int slash = place.indexOf('/');
    if (slash >= 0 && !place.substring(slash).equals(WEB_SOCKET_PATH)) {
      throw new IllegalArgumentException("address must be ws://HOST:PORT" + WEB_SOCKET_PATH + " (was " + url + ")");
    }
    return slash < 0 ? place : place.substring(0, slash);
  }

  /// An address to connect to or to listen on. An address in figures is not looked up, so its link is kept; a name is
  /// looked up when it is used.
  ///
  /// @param host a name or an address
  /// @throws IllegalArgumentException if it is neither, or this host lacks the link that the address names
  public static InetSocketAddress internet(String host, int port) {
    return InternetAddress.of(host, port);
  }

  /// The host of an internet address, without brackets.
  ///
  /// @throws IllegalStateException for another address
  public String host() {
    return InternetAddress.host(internetAddress());
  }

  /// @throws IllegalStateException for an address without one
  public int port() {
    return internetAddress().getPort();
  }

  private InetSocketAddress internetAddress() {
    if (address instanceof InetSocketAddress internet) {
      return internet;
    }
    throw new IllegalStateException("address must be an internet address (was " + this + ")");
  }

  /// The path of a Unix domain socket.
  ///
  /// @throws IllegalStateException for another address
  public Path path() {
    if (address instanceof DomainSocketAddress socket) {
      return Path.of(socket.path());
    }
    throw new IllegalStateException("address must be a Unix domain socket (was " + this + ")");
  }

  /// `HOST:PORT` of an internet address, with brackets where they belong.
  public static String place(InetSocketAddress internet) {
    return InternetAddress.text(internet);
  }

  /// Text that [#parse] reads.
  @Override
  public String toString() {
    return switch (transport) {
      case TCP -> InternetAddress.endpoint(host(), port());
      case WS -> WS + place(internetAddress()) + WEB_SOCKET_PATH;
      case UDS -> UDS + ((DomainSocketAddress) address).path();
      case LOCAL -> LOCAL + ((LocalAddress) address).id();
    };
  }
}
