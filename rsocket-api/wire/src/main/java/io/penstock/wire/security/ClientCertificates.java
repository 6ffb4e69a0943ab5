package io.penstock.wire.security;

import io.netty.handler.ssl.ClientAuth;

/// Whether a server asks its clients for certificates.
public enum ClientCertificates {
  /// The node does not ask for one.
  NONE(ClientAuth.NONE),
  /// The node asks for one, and accepts clients without it; it refuses one that cannot be trusted.
  WANT(ClientAuth.OPTIONAL),
  /// The node refuses clients without one that it trusts.
  NEED(ClientAuth.REQUIRE);

  final ClientAuth netty;

  ClientCertificates(ClientAuth netty) {
    this.netty = netty;
  }
}
