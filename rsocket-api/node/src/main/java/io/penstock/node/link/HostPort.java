package io.penstock.node.link;

import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import picocli.CommandLine.ITypeConverter;

/// Address of a node, written `HOST:PORT`; an IPv6 address stands in brackets.
///
/// @param host name or address, without brackets
public record HostPort(String host, int port) {
  public HostPort {
    if (host.isBlank() || port < 1 || port > 65535) {
      throw refused(host + ":" + port);
    }
  }

  /// @throws IllegalArgumentException if `text` is no address
  public static HostPort parse(String text) {
    Endpoint place;
    try {
      place = Endpoint.parse(text);
    } catch (IllegalArgumentException e) {
      throw refused(text);
    }
    if (place.transport() != TransportKind.TCP) {
      throw refused(text);
    }
    return new HostPort(place.host(), place.port());
  }

  private static IllegalArgumentException refused(String text) {
    return new IllegalArgumentException("address must be HOST:PORT with a port from 1 to 65535 (was " + text + ")");
  }

  /// Converter for the command line.
  public static final class Converter implements ITypeConverter<HostPort> {
    @Override
    public HostPort convert(String text) {
      return parse(text);
    }
  }

  @Override
  public String toString() {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
