package io.penstock.cluster.infinispan;

/// Where a member may be.
record Seed(String host, int port) {
  private static final int MOST_PORT = 65535;

  /// Reads `HOST:PORT`; an IPv6 address stands in brackets.
  ///
  /// @throws IllegalArgumentException if it is none
  static Seed parse(String text) {
    int colon = text.lastIndexOf(':');
    String host = colon < 1 ? "" : text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    } else if (host.indexOf(':') >= 0) {
      throw refused(text);
    }
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      if (host.isEmpty() || port < 1 || port > MOST_PORT) {
        throw refused(text);
      }
      return new Seed(host, port);
    } catch (NumberFormatException e) {
      throw refused(text);
    }
  }

  private static IllegalArgumentException refused(String text) {
    return new IllegalArgumentException("seed must be HOST:PORT (was " + text + ")");
  }

  @Override
  public String toString() {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
