package io.penstock.node.client;

import io.penstock.wire.security.ClientTls;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.transport.TcpClientOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Where a node listens, and what it is shown.
///
/// @param tls null for none
record NodeAddress(HostPort place, @Nullable ClientTls tls, Credentials credentials) {
  /// Of a node that asks for nothing.
  static NodeAddress of(HostPort place) {
    return new NodeAddress(place, null, Credentials.none());
  }

  TcpClientOptions tcp(Duration patience) {
    TcpClientOptions plain = TcpClientOptions.to(place.host(), place.port()).withConnectTimeout(patience);
    return tls == null ? plain : plain.withTls(tls);
  }

  @Override
  public String toString() {
    return place.toString();
  }
}
