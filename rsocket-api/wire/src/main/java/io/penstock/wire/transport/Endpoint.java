package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.netty.channel.local.LocalAddress;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.NetUtil;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
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

  private static final String TCP = "tcp://";
  private static final String UDS = "unix:";
  private static final String WS = "ws://";
  private static final String LOCAL = "local:";
  private static final int MOST_PORT = 65_535;

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
    if (text.startsWith(UDS) && text.length() > UDS.length()) {
      return unix(Path.of(text.substring(UDS.length())));
    }
    if (text.startsWith(LOCAL) && text.length() > LOCAL.length()) {
      return local(text.substring(LOCAL.length()));
    }
    if (text.startsWith(WS)) {
      return new Endpoint(TransportKind.WS, internet(withoutPath(text), text));
    }
    return new Endpoint(TransportKind.TCP, internet(text.startsWith(TCP) ? text.substring(TCP.length()) : text, text));
  }

  private static String withoutPath(String url) {
    String place = url.substring(WS.length());
    int slash = place.indexOf('/');
    if (slash >= 0 && !place.substring(slash).equals(WEB_SOCKET_PATH)) {
      throw refused(url);
    }
    return slash < 0 ? place : place.substring(0, slash);
  }

  private static InetSocketAddress internet(String place, String text) {
    int colon = place.lastIndexOf(':');
    if (colon <= 0 || (place.indexOf(':') != colon && !(place.startsWith("[") && place.charAt(colon - 1) == ']'))) {
      throw refused(text);
    }
    String host = place.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      int port = Integer.parseInt(place.substring(colon + 1));
      if (host.isBlank() || port < 1 || port > MOST_PORT) {
        throw refused(text);
      }
      return internet(host, port);
    } catch (NumberFormatException e) {
      throw refused(text);
    }
  }

  private static IllegalArgumentException refused(String text) {
    return new IllegalArgumentException("address must be HOST:PORT with a port from 1 to 65535, unix:PATH or"
        + " ws://HOST:PORT" + WEB_SOCKET_PATH + " (was " + text + ")");
  }

  /// An address to connect to or to listen on. An address in figures is not looked up, so its link is kept; a name is
  /// looked up when it is used.
  ///
  /// @param host a name, or an address without brackets
  /// @throws IllegalArgumentException if this host lacks the link that the address names
  public static InetSocketAddress internet(String host, int port) {
    if (host.indexOf(':') < 0 && !NetUtil.isValidIpV4Address(host)) {
      return InetSocketAddress.createUnresolved(host, port);
    }
    int percent = host.indexOf('%');
    InetAddress ip = NetUtil.createInetAddressFromIpAddressString(percent < 0 ? host : host.substring(0, percent));
    if (ip == null) {
      throw new IllegalArgumentException("host must be a name or an address (was " + host + ")");
    }
    return new InetSocketAddress(percent < 0 ? ip : onLink(ip, host.substring(percent + 1)), port);
  }

  private static InetAddress onLink(InetAddress ip, String link) {
    try {
      NetworkInterface has = NetworkInterface.getByName(link);
      if (has != null) {
        return Inet6Address.getByAddress(null, ip.getAddress(), has.getIndex());
      }
    } catch (SocketException | UnknownHostException e) {
      throw new IllegalArgumentException("host must be an address of a link of this host (was on " + link + ")", e);
    }
    throw new IllegalArgumentException("host must be an address of a link of this host (was on " + link + ")");
  }

  /// The host of an internet address, without brackets.
  ///
  /// @throws IllegalStateException for another address
  public String host() {
    return host(internetAddress());
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

  private static String host(InetSocketAddress internet) {
    InetAddress ip = internet.getAddress();
    if (ip == null) {
      return internet.getHostString();
    }
    return NetUtil.toAddressString(ip) + (ip instanceof Inet6Address six && six.getScopeId() > 0 ? link(six) : "");
  }

  private static String link(Inet6Address ip) {
    try {
      NetworkInterface link = NetworkInterface.getByIndex(ip.getScopeId());
      return "%" + (link == null ? ip.getScopeId() : link.getName());
    } catch (SocketException e) {
      return "%" + ip.getScopeId();
    }
  }

  /// `HOST:PORT` of an internet address, with brackets where they belong.
  public static String place(InetSocketAddress internet) {
    String host = host(internet);
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + internet.getPort();
  }

  /// Text that [#parse] reads.
  @Override
  public String toString() {
    return switch (transport) {
      case TCP -> place(internetAddress());
      case WS -> WS + place(internetAddress()) + WEB_SOCKET_PATH;
      case UDS -> UDS + ((DomainSocketAddress) address).path();
      case LOCAL -> LOCAL + ((LocalAddress) address).id();
    };
  }
}
