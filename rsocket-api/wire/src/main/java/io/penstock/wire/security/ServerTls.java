package io.penstock.wire.security;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;

/// TLS 1.2 and 1.3 of a server. Files that change count for the connections that come later; see [Reloaded]. Netty's
/// BoringSSL does the work where it is on the class path, else the JDK.
public final class ServerTls {
  private final Reloaded<SslContext> context;

  private ServerTls(Reloaded<SslContext> context) {
    this.context = context;
  }

  /// Reads `files`.
  ///
  /// @throws IllegalArgumentException if a file is not of its form, or key and certificate do not fit
  public static ServerTls of(TlsFiles files, ClientCertificates clients) throws IOException {
    if (clients != ClientCertificates.NONE && files.trust() == null) {
      throw new IllegalArgumentException("trust must be given to ask clients for certificates (was none)");
    }
    return new ServerTls(Reloaded.read("certificate of the node", files.all(),
        () -> files.read(true).clientAuth(clients.netty).build()));
  }

  /// Last content of the files, to be checked for changes.
  public Reloaded<?> files() {
    return context;
  }

  /// Handler for one connection. The handshake has no time limit of its own.
  public SslHandler handler(ByteBufAllocator alloc) {
    SslHandler handler = context.current().newHandler(alloc);
    handler.setHandshakeTimeoutMillis(0);
    return handler;
  }
}
