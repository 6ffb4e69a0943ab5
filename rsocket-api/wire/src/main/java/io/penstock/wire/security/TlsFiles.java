package io.penstock.wire.security;

import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The files of one side, in PEM.
///
/// @param cert its certificate, then those between it and an authority; null for none
/// @param key the private key of the first certificate, PKCS#8 without a password; null exactly if `cert` is
/// @param trust certificates of the authorities that the other side's certificate may come from; null for those that
///     the JDK trusts
public record TlsFiles(@Nullable Path cert, @Nullable Path key, @Nullable Path trust) {
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  public TlsFiles {
    if ((cert == null) != (key == null)) {
      throw new IllegalArgumentException(
          "cert and key must be given together (was cert " + cert + ", key " + key + ")");
    }
  }

  /// No certificate of one's own, and the authorities of the JDK.
  public static TlsFiles none() {
    return new TlsFiles(null, null, null);
  }

  /// Files with this side's own certificate.
  public TlsFiles withCert(Path cert, Path key) {
    return new TlsFiles(cert, key, trust);
  }

  /// Files with its own authorities.
  public TlsFiles withTrust(Path trust) {
    return new TlsFiles(cert, key, trust);
  }

  List<Path> all() {
    return Stream.of(cert, key, trust).filter(Objects::nonNull).map(Objects::requireNonNull).toList();
  }

  /// A server with this certificate, or a client with or without one.
  SslContextBuilder read(boolean server) throws IOException {
    SslContextBuilder context = server ? ofServer() : SslContextBuilder.forClient();
    if (!server && cert != null && key != null) {
      X509Certificate[] own = PemFile.certificates(cert);
      context.keyManager(PemFile.key(key, own), own);
    }
    if (trust != null) {
      context.trustManager(PemFile.certificates(trust));
    }
    return context.protocols(PROTOCOLS).sslProvider(OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK);
  }

  private SslContextBuilder ofServer() throws IOException {
    if (cert == null || key == null) {
      throw new IllegalArgumentException("cert must be given for a server (was none)");
    }
    X509Certificate[] own = PemFile.certificates(cert);
    return SslContextBuilder.forServer(PemFile.key(key, own), own);
  }
}
