package io.penstock.node.option;

import io.penstock.node.cli.DataException;
import io.penstock.node.cli.InputFile;
import io.penstock.node.link.NodePass;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.TlsFiles;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options for a node that has TLS or wants credentials. No option takes a secret, for a command line is not secret.
public final class SecurityOptions {
  static final String TOKEN = "PENSTOCK_TOKEN";
  static final String PASSWORD = "PENSTOCK_PASSWORD";

  @Option(names = "--tls", description = "Connect with TLS, and trust the authorities of the JDK.")
  private boolean tls;

  @Option(names = "--tls-trust", paramLabel = "FILE",
      description = "Connect with TLS, and trust the authorities in this PEM file.")
  private @Nullable String trust;

  @Option(names = "--tls-cert", paramLabel = "FILE",
      description = "Certificate to show to the node, in PEM; with --tls-key.")
  private @Nullable String cert;

  @Option(names = "--tls-key", paramLabel = "FILE", description = "Its private key, in PEM (PKCS#8).")
  private @Nullable String key;

  @Option(names = "--tls-any-host", description = "Accept a certificate that names another host.")
  private boolean anyHost;

  @Option(names = "--user", paramLabel = "NAME",
      description = "User to connect as; the password is in --password-file or in " + PASSWORD + ".")
  private @Nullable String user;

  @Option(names = "--password-file", paramLabel = "FILE", description = "File whose first line is the password.")
  private @Nullable String passwordFile;

  @Option(names = "--token-file", paramLabel = "FILE",
      description = "File whose first line is the token to connect with; " + TOKEN + " may have it, too.")
  private @Nullable String tokenFile;

  /// Refuses options of TLS for a Unix domain socket, which has none: its bytes stay on this host.
  public void requireFit(Endpoint place) {
    if (place.transport() != TransportKind.UDS) {
      return;
    }
    String given = tls
        ? "--tls"
        : trust != null ? "--tls-trust" : cert != null ? "--tls-cert" : anyHost ? "--tls-any-host" : null;
    if (given != null) {
      throw new IllegalArgumentException(
          given + " must be left out with --connect " + place + ", a socket of this host without TLS (was given)");
    }
  }

  /// Credentials from the options and from `environment`.
  public NodePass pass(Map<String, String> environment) throws IOException {
    return new NodePass(tls(), credentials(environment));
  }

  private @Nullable ClientTls tls() throws IOException {
    if ((cert == null) != (key == null)) {
      throw new IllegalArgumentException("--tls-cert and --tls-key must be given together (was one of them)");
    }
    if (!tls && trust == null && cert == null) {
      if (anyHost) {
        throw new IllegalArgumentException("--tls or --tls-trust must be given for --tls-any-host (was not)");
      }
      return null;
    }
    TlsFiles files = trust == null ? TlsFiles.none() : TlsFiles.none().withTrust(InputFile.of(trust));
    if (cert != null && key != null) {
      files = files.withCert(InputFile.of(cert), InputFile.of(key));
    }
    try {
      return anyHost ? ClientTls.ofAnyHost(files) : ClientTls.of(files);
    } catch (IllegalArgumentException e) {
      throw new DataException(String.valueOf(e.getMessage()));
    }
  }

  private Credentials credentials(Map<String, String> environment) throws IOException {
    if (user == null) {
      if (passwordFile != null) {
        throw new IllegalArgumentException("--user must be given for --password-file (was not)");
      }
      String token = tokenFile == null ? environment.getOrDefault(TOKEN, "") : InputFile.firstLine(tokenFile);
      return token.isEmpty() ? Credentials.none() : Credentials.bearer(token.toCharArray());
    }
    if (tokenFile != null) {
      throw new IllegalArgumentException("--token-file must be left out with --user (was given)");
    }
    String password = passwordFile == null ? environment.getOrDefault(PASSWORD, "") : InputFile.firstLine(passwordFile);
    if (password.isEmpty()) {
      throw new IllegalArgumentException(
          "--password-file, or " + PASSWORD + ", must have the password of --user (has none)");
    }
    return Credentials.simple(user, password.toCharArray());
  }
}
