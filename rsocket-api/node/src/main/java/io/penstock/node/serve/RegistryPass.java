package io.penstock.node.serve;

import io.penstock.node.cli.DataException;
import io.penstock.node.cli.InputFile;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.RankSettings;
import io.penstock.node.config.SecuritySettings;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.TlsFiles;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Credentials of a rank for its registry: TLS with the node's own certificate and authorities, if it has them, and a
/// user.
///
/// @param tls null for none
record RegistryPass(@Nullable ClientTls tls, Credentials credentials) {
  /// Reads the files that `config` names.
  ///
  /// @throws DataException if one is not of its form
  static RegistryPass of(NodeConfig config) throws IOException {
    return config.get(RankSettings.REGISTRY).isEmpty()
        ? new RegistryPass(null, Credentials.none())
        : new RegistryPass(tls(config), credentials(config));
  }

  private static @Nullable ClientTls tls(NodeConfig config) throws IOException {
    Optional<Path> trust = config.get(SecuritySettings.TLS_TRUST);
    Optional<Path> cert = config.get(SecuritySettings.TLS_CERT);
    if (trust.isEmpty() && cert.isEmpty()) {
      return null;
    }
    TlsFiles files = trust.isPresent() ? TlsFiles.none().withTrust(trust.get()) : TlsFiles.none();
    try {
      return ClientTls.of(cert.isPresent()
          ? files.withCert(cert.get(), config.get(SecuritySettings.TLS_KEY).orElseThrow())
          : files);
    } catch (IllegalArgumentException e) {
      throw new DataException(String.valueOf(e.getMessage()));
    }
  }

  private static Credentials credentials(NodeConfig config) throws IOException {
    Optional<Path> file = config.get(RankSettings.REGISTRY_PASSWORD);
    if (file.isEmpty()) {
      return Credentials.none();
    }
    char[] secret = InputFile.firstLine(file.get().toString()).toCharArray();
    Optional<String> user = config.get(RankSettings.REGISTRY_USER);
    return user.isPresent() ? Credentials.simple(user.get(), secret) : Credentials.bearer(secret);
  }

  TcpClientOptions with(TcpClientOptions options) {
    return tls == null ? options : options.withTls(tls);
  }
}
