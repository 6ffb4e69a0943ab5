package io.penstock.node.serve;

import io.penstock.node.cli.DataException;
import io.penstock.node.cli.InputFile;
import io.penstock.node.cli.OwnerFile;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.RankSettings;
import io.penstock.node.config.RegistryTls;
import io.penstock.node.config.SecuritySettings;
import io.penstock.node.setting.Setting;
import io.penstock.wire.rank.RankSecret;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.TlsFiles;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Credentials of a rank for its registry: TLS with the node's own certificate and authorities, if it has them, a user,
/// and the secret to which the rank belongs where there are no users.
///
/// @param tls null for none
record RegistryPass(@Nullable ClientTls tls, Credentials credentials, RankSecret secret) {
  private static final SecureRandom RANDOM = new SecureRandom();

  /// Reads the files that `config` names; makes that of the secret if it is not there.
  ///
  /// @throws DataException if one is not of its form
  static RegistryPass of(NodeConfig config) throws IOException {
    return config.get(RankSettings.REGISTRY).isEmpty()
        ? new RegistryPass(null, Credentials.none(), RankSecret.random(RANDOM))
        : new RegistryPass(tls(config, RankSettings.REGISTRY_TLS),
            credentials(config, RankSettings.REGISTRY_USER, RankSettings.REGISTRY_PASSWORD), secret(config));
  }

  /// TLS with which the node connects to another one; null for none.
  ///
  /// @param setting whether it does
  static @Nullable ClientTls tls(NodeConfig config, Setting<RegistryTls> setting) throws IOException {
    Optional<Path> trust = config.get(SecuritySettings.TLS_TRUST);
    Optional<Path> cert = config.get(SecuritySettings.TLS_CERT);
    RegistryTls wanted = config.get(setting);
    if (wanted == RegistryTls.OFF || (wanted == RegistryTls.AUTO && trust.isEmpty() && cert.isEmpty())) {
      return null;
    }
    TlsFiles files = trust.isPresent() ? TlsFiles.none().withTrust(trust.get()) : TlsFiles.none();
    TlsFiles all = cert.isPresent()
        ? files.withCert(cert.get(), config.get(SecuritySettings.TLS_KEY).orElseThrow())
        : files;
    try {
      return wanted == RegistryTls.ANY_HOST ? ClientTls.ofAnyHost(all) : ClientTls.of(all);
    } catch (IllegalArgumentException e) {
      throw new DataException(String.valueOf(e.getMessage()));
    }
  }

  /// Credentials that the node shows to another one.
  ///
  /// @param name of the user; none for a token
  /// @param password its file, or that of the token
  static Credentials credentials(NodeConfig config, Setting<Optional<String>> name, Setting<Optional<Path>> password)
      throws IOException {
    Optional<Path> file = config.get(password);
    if (file.isEmpty()) {
      return Credentials.none();
    }
    char[] secret = InputFile.firstLine(file.get().toString()).toCharArray();
    Optional<String> user = config.get(name);
    return user.isPresent() ? Credentials.simple(user.get(), secret) : Credentials.bearer(secret);
  }

  private static RankSecret secret(NodeConfig config) throws IOException {
    Optional<Path> file = config.get(RankSettings.SECRET);
    if (file.isEmpty()) {
      return RankSecret.random(RANDOM);
    } else if (Files.notExists(file.get())) {
      SecretFile.make(file.get(), RANDOM);
    }
    String line = OwnerFile.firstLine(RankSettings.SECRET.key(), file.get());
    try {
      return RankSecret.of(line.getBytes(StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      throw new DataException("%s: %s".formatted(file.get(), e.getMessage()));
    }
  }

  TcpClientOptions with(TcpClientOptions options) {
    return tls == null ? options : options.withTls(tls);
  }
}
