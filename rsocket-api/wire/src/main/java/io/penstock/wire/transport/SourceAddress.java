package io.penstock.wire.transport;

import io.penstock.check.InternetAddress;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Address by which connections are counted.
public final class SourceAddress {
  private static final String LOCAL = "a socket of this host";

  private static final int GROUP = 0xFFFF;

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

  /// Text for people of what [#of] answered; of anything else, what it says of itself.
  public static String words(Object source) {
    return switch (source) {
      case InetAddress four -> four.getHostAddress();
      case Long six -> network(six);
      default -> source.toString();
    };
  }

  private static String network(long prefix) {
    return "%x:%x:%x:%x::/64".formatted(prefix >>> 48, prefix >>> 32 & GROUP, prefix >>> 16 & GROUP, prefix & GROUP);
  }

  /// Text for people; without a look-up of names.
  public static String words(@Nullable SocketAddress remote) {
    return remote instanceof InetSocketAddress internet && internet.getAddress() != null
        ? InternetAddress.text(internet)
        : LOCAL;
  }
}
