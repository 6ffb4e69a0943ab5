package io.penstock.node.admin;

import java.net.InetAddress;
import java.util.Locale;
import java.util.Set;

/// The names by which a client may call a node. A page whose own name was made to lead here (DNS rebinding) calls the
/// node by that name, which is none of them.
///
/// @param names as of [AdminOptions]
record HostNames(Set<String> names) {
  private static final String ANY = "*";

  /// Whether a `Host` is one of the names, or any address: a page whose name was made to lead here has no address as
  /// its name.
  ///
  /// @param host with or without a port; in the form of HTTP
  boolean allows(String host) {
    String plain = withoutPort(host).toLowerCase(Locale.ROOT);
    String name = plain.endsWith(".") ? plain.substring(0, plain.length() - 1) : plain;
    return name.equals("localhost") || isAddress(name) || names.stream().anyMatch(each -> fits(each, name));
  }

  private static String withoutPort(String host) {
    if (host.startsWith("[")) {
      return host.substring(1, host.indexOf(']'));
    }
    int colon = host.indexOf(':');
    return colon < 0 ? host : host.substring(0, colon);
  }

  private static boolean isAddress(String text) {
    try {
      int zone = text.indexOf('%');
      InetAddress unused = InetAddress.ofLiteral(zone < 0 ? text : text.substring(0, zone));
      return true;
    } catch (IllegalArgumentException e) { // a name
      return false;
    }
  }

  private static boolean fits(String allowed, String name) {
    String lower = allowed.toLowerCase(Locale.ROOT);
    return lower.equals(ANY) || lower.equals(name)
        || (lower.startsWith("*.") && name.endsWith(lower.substring(1)));
  }
}
