package io.penstock.wire.transport;

import io.penstock.check.InternetAddress;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Address by which connections are counted.
public final class SourceAddress {
  private static final String LOCAL = "a socket of this host";

  private SourceAddress() {}

  /// Equal for connections of one peer: an IPv4 address, an IPv6 network of 64 bits, which one host has as a rule, or
  /// all sockets that have no internet address.
  public static Object of(@Nullable SocketAddress remote) {
    if (!(remote instanceof InetSocketAddress internet) || internet.getAddress() == null) {
      return LOCAL;
    }
    return internet.getAddress() instanceof Inet6Address six
        ? (Object) ByteBuffer.wrap(six.getAddress()).getLong()
        : internet.getAddress();
  }

  /// Text for people; without a look-up of names.
  public static String words(@Nullable SocketAddress remote) {
    return remote instanceof InetSocketAddress internet && internet.getAddress() != null
        ? InternetAddress.text(internet)
        : LOCAL;
  }
}
