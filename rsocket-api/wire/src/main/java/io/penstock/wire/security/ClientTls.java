package io.penstock.wire.security;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.time.Duration;

/// TLS 1.2 and 1.3 of a client. By default it requires that the server's certificate names the host, or the address,
/// that was connected to.
public final class ClientTls {
  private final Reloaded<SslContext> context;

  private ClientTls(Reloaded<SslContext> context) {
    this.context = context;
  }

  /// Reads `files`.
  ///
  /// @throws IllegalArgumentException if a file is not of its form, or key and certificate do not fit
  public static ClientTls of(TlsFiles files) throws IOException {
    return of(files, "HTTPS");
  }

  /// Any host may have the certificate, as long as an authority that is trusted issued it.
  public static ClientTls ofAnyHost(TlsFiles files) throws IOException {
    return of(files, "");
  }

  private static ClientTls of(TlsFiles files, String names) throws IOException {
    return new ClientTls(Reloaded.read("certificate of the client", files.all(),
        () -> files.read(false).endpointIdentificationAlgorithm(names).build()));
  }

  /// Last content of the files, to be checked for changes.
  public Reloaded<?> files() {
    return context;
  }

  /// Handler for one connection.
  ///
  /// @param host name or address that the server's certificate must have
  /// @param handshake longest time for the handshake
  public SslHandler handler(ByteBufAllocator alloc, String host, int port, Duration handshake) {
    SslHandler handler = context.current().newHandler(alloc, host, port);
    handler.setHandshakeTimeoutMillis(handshake.toMillis());
    return handler;
  }
}
