package io.penstock.wire.security;

import io.netty.handler.ssl.ClientAuth;

/// Whether a server asks its clients for certificates.
public enum ClientCertificates {
  /// It does not ask.
  NONE(ClientAuth.NONE),
  /// It asks, and takes clients that have none; one that cannot be trusted is refused.
  WANT(ClientAuth.OPTIONAL),
  /// It refuses clients without one that it trusts.
  NEED(ClientAuth.REQUIRE);

  final ClientAuth netty;

  ClientCertificates(ClientAuth netty) {
    this.netty = netty;
  }
}
