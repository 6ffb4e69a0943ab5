package io.penstock.check;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The reader and the printer of internet addresses in text. Each reads and prints what the other does.
///
/// | Written | Means |
/// |---|---|
/// | `node7`, `127.0.0.1`, `2001:db8::7` | a host |
/// | `fe80::1%eth0`, `fe80::1%2`, `fe80::1%25eth0` | an IPv6 address of a link of this host: name, number, as in URLs |
/// | `node7:7733`, `[2001:db8::7]:7733`, `[fe80::1%eth0]:7733` | a host and its port |
///
/// A name is never looked up here: an address that is made from one is unresolved.
public final class InternetAddress {
  private static final String TCP = "tcp://";
  private static final int MOST_PORT = 65_535;
  private static final int LONGEST_NAME = 253;
  private static final int GROUPS = 8;
  private static final char LINK = '%';
  /// How a URL writes the `%` before a link (RFC 6874).
  private static final String URL_LINK = "25";

  private InternetAddress() {}

  /// Reads `HOST:PORT`; `tcp://` may stand before it.
  ///
  /// @throws IllegalArgumentException if `text` is of another form, or this host lacks the link that it names
  public static InetSocketAddress parse(String text) {
    String place = text.startsWith(TCP) ? text.substring(TCP.length()) : text;
    int colon = place.lastIndexOf(':');
    String host = place.substring(0, Math.max(0, colon));
    boolean isBracketed = host.startsWith("[") && host.endsWith("]");
    if (colon <= 0 || host.contains(":") != isBracketed || !place.substring(colon + 1).matches("[0-9]{1,5}")) {
      throw refused(text);
    }
    int port = Integer.parseInt(place.substring(colon + 1));
    if (port < 1 || port > MOST_PORT) {
      throw refused(text);
    }
    return of(isBracketed ? host.substring(1, host.length() - 1) : host, port);
  }

  private static IllegalArgumentException refused(String text) {
    return new IllegalArgumentException(
        "address must be HOST:PORT with a port from 1 to 65535, IPv6 in brackets (was " + printable(text) + ")");
  }

  /// An address of `host`: resolved if that is an address, else unresolved.
  ///
  /// @param host a name, or an address with or without brackets
  /// @param port 0 for any free one of a listener
  /// @throws IllegalArgumentException if `host` is neither, or this host lacks the link that it names
  public static InetSocketAddress of(String host, int port) {
    String plain = host(host);
    InetAddress ip = literal(plain);
    return ip == null ? InetSocketAddress.createUnresolved(plain, port) : new InetSocketAddress(ip, port);
  }

  /// `host` without brackets.
  ///
  /// @throws IllegalArgumentException if it is neither a name nor an address. A link is not looked for
  public static String host(String host) {
    String plain = host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    boolean isHost = plain.indexOf(':') >= 0
        ? isIpv6(plain)
        : isName(plain) && (!plain.matches("[0-9.]+") || isLiteral(plain));
    if (!isHost || (plain.length() < host.length() && plain.indexOf(':') < 0)) {
      throw new IllegalArgumentException("host must be a name or an address (was " + printable(host) + ")");
    }
    return plain;
  }

  private static boolean isIpv6(String host) {
    int link = host.indexOf(LINK);
    return link < 0
        ? isLiteral(host)
        : isLiteral(host.substring(0, link)) && host.substring(link + 1).matches("[A-Za-z0-9._:@-]+");
  }

  private static boolean isLiteral(String host) {
    try {
      return InetAddress.ofLiteral(host) != null;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static boolean isName(String host) {
    return !host.isEmpty() && host.length() <= LONGEST_NAME
        && host.codePoints().allMatch(each -> Character.isLetterOrDigit(each) || "-._".indexOf(each) >= 0);
  }

  /// Text that was refused: a question mark stands for each character that a terminal does not show as it is.
  private static String printable(String text) {
    String all = text.codePoints().map(each -> Checks.isPrintable(each) ? each : '?')
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
    return all.length() <= LONGEST_NAME ? all : all.substring(0, LONGEST_NAME) + "...";
  }

  private static @Nullable InetAddress literal(String host) {
    int link = host.indexOf(LINK);
    if (link >= 0) {
      return onLink(host.substring(0, link), host.substring(link + 1));
    }
    return host.indexOf(':') >= 0 || host.matches("[0-9.]+") ? InetAddress.ofLiteral(host) : null;
  }

  private static InetAddress onLink(String ip, String link) {
    try {
      NetworkInterface has = link(link)
          .or(() -> link.startsWith(URL_LINK) ? link(link.substring(URL_LINK.length())) : Optional.empty())
          .orElseThrow(() -> new IllegalArgumentException(
              "host must be an address of a link of this host (was on " + link + ")"));
      return Inet6Address.getByAddress(null, InetAddress.ofLiteral(ip).getAddress(), has.getIndex());
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("host must be an IPv6 address before its link (was " + ip + ")", e);
    }
  }

  /// The link with a name or a number.
  private static Optional<NetworkInterface> link(String text) {
    try {
      NetworkInterface named = text.isEmpty() ? null : NetworkInterface.getByName(text);
      return named != null || !text.matches("[0-9]{1,9}")
          ? Optional.ofNullable(named)
          : Optional.ofNullable(NetworkInterface.getByIndex(Integer.parseInt(text)));
    } catch (SocketException e) {
      return Optional.empty();
    }
  }

  /// Text of a host without brackets: the shortest form of an address (RFC 5952), with the name of its link.
  public static String text(InetAddress ip) {
    return ip instanceof Inet6Address six ? shortest(six.getAddress()) + link(six) : ip.getHostAddress();
  }

  /// The host of `address`, without brackets; a name if it was made from one.
  public static String host(InetSocketAddress address) {
    return address.getAddress() == null ? address.getHostString() : text(address.getAddress());
  }

  /// `HOST:PORT`, with brackets where they belong.
  public static String text(InetSocketAddress address) {
    return text(host(address), address.getPort());
  }

  /// `HOST:PORT`, with brackets where they belong.
  ///
  /// @param host without brackets
  public static String text(String host, int port) {
    return bracketed(host) + ":" + port;
  }

  /// `HOST:PORT` for every command. The hosts `unix` and `local` begin other kinds of addresses, so `tcp://` stands
  /// before them.
  ///
  /// @param host without brackets
  public static String endpoint(String host, int port) {
    return (host.equals("unix") || host.equals("local") ? TCP : "") + text(host, port);
  }

  /// `host` as it stands before a port.
  public static String bracketed(String host) {
    return host.indexOf(':') < 0 ? host : "[" + host + "]";
  }

  /// `host` without the link, which means nothing to another host.
  public static String withoutLink(String host) {
    int link = host.indexOf(LINK);
    return link < 0 ? host : host.substring(0, link);
  }

  /// True for an address that other hosts cannot use, as it names a link of one host or no host at all.
  ///
  /// @param host a name or an address
  public static boolean isOfOneHost(String host) {
    String ip = withoutLink(host);
    InetAddress literal = ip.length() < host.length() || ip.indexOf(':') >= 0 || ip.matches("[0-9.]+")
        ? InetAddress.ofLiteral(ip)
        : null;
    return ip.length() < host.length() || (literal != null && isOfOneHost(literal));
  }

  /// True for an address that other hosts cannot use, as it is of a link of one host or of no host at all.
  public static boolean isOfOneHost(InetAddress ip) {
    return ip.isAnyLocalAddress() || (ip instanceof Inet6Address && ip.isLinkLocalAddress());
  }

  private static String link(Inet6Address ip) {
    if (ip.getScopeId() <= 0) {
      return "";
    }
    try {
      NetworkInterface link = NetworkInterface.getByIndex(ip.getScopeId());
      return LINK + (link == null ? String.valueOf(ip.getScopeId()) : link.getName());
    } catch (SocketException e) {
      return LINK + String.valueOf(ip.getScopeId());
    }
  }

  /// The longest run of groups that are zero, the first of several, becomes `::`.
  private static String shortest(byte[] ip) {
    int start = 0;
    int length = 1; // a single group stays
    for (int from = 0; from < GROUPS; from++) {
      int to = from;
      while (to < GROUPS && group(ip, to) == 0) {
        to++;
      }
      if (to - from > length) {
        start = from;
        length = to - from;
      }
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < GROUPS; i++) {
      if (length > 1 && i == start) {
        text.append("::");
        i += length - 1;
      } else {
        text.append(text.isEmpty() || text.charAt(text.length() - 1) == ':' ? "" : ":")
            .append(Integer.toHexString(group(ip, i)));
      }
    }
    return text.toString();
  }

  private static int group(byte[] ip, int index) {
    return (ip[2 * index] & 0xFF) << 8 | (ip[2 * index + 1] & 0xFF);
  }
}
