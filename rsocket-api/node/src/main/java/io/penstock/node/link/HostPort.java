package io.penstock.node.link;

import io.penstock.check.InternetAddress;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;

/// Address of a node, or of its admin endpoints, written `HOST:PORT`; an IPv6 address stands in brackets. A URL of HTTP
/// is read as the address in it: options say whether a command connects with TLS, the scheme does not.
///
/// @param host name or address, without brackets
public record HostPort(String host, int port) {
  private static final Pattern HTTP = Pattern.compile("https?://(.*?)/?");

  public HostPort {
    host = InternetAddress.host(host);
    if (port < 1 || port > 65535) {
      throw refused(InternetAddress.text(host, port));
    }
  }

  /// @throws IllegalArgumentException if `text` is no address
  public static HostPort parse(String text) {
    Endpoint place;
    try {
      place = Endpoint.parse(withoutHttp(text));
    } catch (IllegalArgumentException e) {
      throw refused(text);
    }
    if (place.transport() != TransportKind.TCP) {
      throw refused(text);
    }
    return new HostPort(place.host(), place.port());
  }

  /// `text` without the scheme of the URL that `serve` prints for its admin endpoints.
  private static String withoutHttp(String text) {
    Matcher url = HTTP.matcher(text);
    return url.matches() ? "tcp://" + url.group(1) : text;
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
    return InternetAddress.endpoint(host, port);
  }
}
