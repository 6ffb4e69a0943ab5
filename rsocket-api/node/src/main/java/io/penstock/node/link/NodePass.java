package io.penstock.node.link;

import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import org.jspecify.annotations.Nullable;

/// Credentials and TLS of a command at a node.
///
/// @param tls null for none
public record NodePass(@Nullable ClientTls tls, Credentials credentials) {
  /// Nothing.
  public static NodePass none() {
    return new NodePass(null, Credentials.none());
  }

  public TcpClientOptions with(TcpClientOptions options) {
    return tls == null ? options : options.withTls(tls);
  }

  public KvClientOptions.Builder with(KvClientOptions.Builder options) {
    return options.credentials(credentials);
  }
}
