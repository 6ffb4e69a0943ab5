package io.penstock.node.config;

import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.wire.security.ClientCertificates;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Settings of the users of a node and of their rights.
public final class SecuritySettings {
  public static final Setting<Optional<Path>> TLS_CERT = new Setting<>("tls.cert", SettingType.pathOrOff(), "off",
      "PEM file of the node's certificate, then those between it and an authority: connections then have TLS.");
  public static final Setting<Optional<Path>> TLS_KEY = new Setting<>("tls.key", SettingType.pathOrOff(), "off",
      "PEM file of the certificate's private key (PKCS#8, not encrypted).");
  public static final Setting<Optional<Path>> TLS_TRUST = new Setting<>("tls.trust", SettingType.pathOrOff(), "off",
      "PEM file of the authorities that clients' certificates may come from.");
  public static final Setting<ClientCertificates> TLS_CLIENT_AUTH =
      new Setting<>("tls.client.auth", SettingType.oneOf(ClientCertificates.class), "none",
          "Whether clients are asked for a certificate: need refuses those without one, want does not.");
  public static final Setting<Optional<Path>> AUTH_USERS =
      new Setting<>("auth.users", SettingType.pathOrOff(), "off",
          "File of the users, lines of 'penstock password': clients must then show a password or a token.");
  public static final Setting<Optional<Path>> ACCESS_RULES =
      new Setting<>("access.rules", SettingType.pathOrOff(), "off",
          "YAML file of roles by user and space; without it, every user may do everything.");
  public static final Setting<Duration> RELOAD_INTERVAL =
      new Setting<>("reload.interval", SettingType.duration(), "10s",
          "How often these files are looked at. A change counts when two looks see the same.");

  static final List<Setting<?>> ALL =
      List.of(TLS_CERT, TLS_KEY, TLS_TRUST, TLS_CLIENT_AUTH, AUTH_USERS, ACCESS_RULES, RELOAD_INTERVAL);

  private SecuritySettings() {}

  /// Adds combinations of these settings that are not possible.
  static void require(NodeConfig config, List<String> problems) {
    if (config.get(TLS_CERT).isPresent() != config.get(TLS_KEY).isPresent()) {
      Setting<?> absent = config.get(TLS_CERT).isPresent() ? TLS_KEY : TLS_CERT;
      Setting<?> given = config.get(TLS_CERT).isPresent() ? TLS_CERT : TLS_KEY;
      problems.add("%s must be a file for %s (%s)".formatted(absent.key(), config.said(given), config.was(absent)));
    } else if (config.get(TLS_CERT).isEmpty() && asksClients(config)) {
      problems.add("tls.cert must be a file for %s (%s)".formatted(config.said(TLS_CLIENT_AUTH),
          config.was(TLS_CERT)));
    }
    if (asksClients(config) && config.get(TLS_TRUST).isEmpty()) {
      problems.add("tls.trust must be a file for %s (%s)".formatted(config.said(TLS_CLIENT_AUTH),
          config.was(TLS_TRUST)));
    }
    if (config.get(ACCESS_RULES).isPresent() && config.get(AUTH_USERS).isEmpty()) {
      problems.add("auth.users must be a file for %s (%s)".formatted(config.said(ACCESS_RULES),
          config.was(AUTH_USERS)));
    }
  }

  private static boolean asksClients(NodeConfig config) {
    return config.get(TLS_CLIENT_AUTH) != ClientCertificates.NONE;
  }

  /// The protection that connections lack, in the middle of a sentence; empty if other hosts may connect.
  static Optional<String> lack(NodeConfig config) {
    boolean encrypted = config.get(TLS_CERT).isPresent();
    boolean known = config.get(AUTH_USERS).isPresent() || config.get(TLS_CLIENT_AUTH) == ClientCertificates.NEED;
    return encrypted && known
        ? Optional.empty()
        : Optional.of(encrypted ? "no authentication" : known ? "no TLS" : "neither TLS nor authentication");
  }
}
