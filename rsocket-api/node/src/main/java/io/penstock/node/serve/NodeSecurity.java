package io.penstock.node.serve;

import io.penstock.node.admin.AdminOptions;
import io.penstock.node.cli.DataException;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.ClusterSettings;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.config.RankSettings;
import io.penstock.node.config.S3Settings;
import io.penstock.node.config.SecuritySettings;
import io.penstock.node.config.TransportSettings;
import io.penstock.node.setting.Setting;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.ClientCertificates;
import io.penstock.wire.security.Reloaded;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.security.TlsFiles;
import io.penstock.wire.security.UserFile;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/// TLS, users and roles of a node, from files that may change while it runs.
final class NodeSecurity {
  private static final List<Setting<Optional<Path>>> FILES = List.of(SecuritySettings.TLS_CERT,
      SecuritySettings.TLS_KEY, SecuritySettings.TLS_TRUST, SecuritySettings.AUTH_USERS, SecuritySettings.ACCESS_RULES);

  private final NodeConfig config;
  private final List<Reloaded<?>> files = new ArrayList<>();
  private final @Nullable ServerTls tls;
  /// TLS of the admin endpoints; null for none.
  private final @Nullable ServerTls adminTls;
  private final Access access;
  private final RegistryPass registryPass;

  private NodeSecurity(NodeConfig config) throws IOException {
    this.config = config;
    Optional<Path> cert = config.get(SecuritySettings.TLS_CERT);
    this.tls = cert.isPresent()
        ? tls(cert.get(), config.get(SecuritySettings.TLS_KEY).orElseThrow(),
            config.get(SecuritySettings.TLS_CLIENT_AUTH))
        : null;
    this.adminTls = tls != null && needsCertificate() && config.get(AdminSettings.HEALTH_OPEN)
        ? tls(cert.orElseThrow(), config.get(SecuritySettings.TLS_KEY).orElseThrow(), ClientCertificates.WANT)
        : tls;
    Optional<Path> users = config.get(SecuritySettings.AUTH_USERS);
    this.access = users.isPresent() ? access(users.get()) : Access.open();
    this.registryPass = RegistryPass.of(config);
    if (registryPass.tls() != null) {
      files.add(registryPass.tls().files());
    }
  }

  /// Reads the files that `config` names.
  ///
  /// @throws DataException if one is not of its form
  /// @throws IOException if one cannot be read, or one that a part of the node reads later; names its setting
  static NodeSecurity of(NodeConfig config) throws IOException {
    for (Setting<Optional<Path>> each : FILES) {
      requireFile(config, each);
    }
    if (config.get(DoorSettings.S3.listen()).isPresent()) {
      requireFile(config, S3Settings.KEYS);
    }
    if (config.get(ClusterSettings.CLUSTER).isPresent()) {
      requireFile(config, ClusterSettings.PASSWORD);
      requireFile(config, ClusterSettings.SECRET);
    }
    if (!config.get(RankSettings.REGISTRY).isEmpty()) {
      requireFile(config, RankSettings.REGISTRY_PASSWORD);
    }
    try {
      return new NodeSecurity(config);
    } catch (IllegalArgumentException e) {
      throw new DataException(String.valueOf(e.getMessage()));
    }
  }

  private static void requireFile(NodeConfig config, Setting<Optional<Path>> setting) throws IOException {
    Optional<Path> file = config.get(setting);
    if (file.isPresent() && (Files.isDirectory(file.get()) || !Files.isReadable(file.get()))) {
      String why = Files.isDirectory(file.get())
          ? "is a folder"
          : Files.exists(file.get()) ? "permission denied" : "no such file";
      Effective said = config.effective(setting);
      throw new IOException("%s must be a file that this user can read (was %s, from %s: %s)".formatted(setting.key(),
          said.text(), said.origin(), why));
    }
  }

  private boolean needsCertificate() {
    return config.get(SecuritySettings.TLS_CLIENT_AUTH) == ClientCertificates.NEED;
  }

  /// What protects the admin endpoints: the TLS and the users of the data port. A probe without a certificate gets
  /// through the handshake if `/health` is open.
  AdminOptions admin() {
    Set<String> names = new TreeSet<>(config.get(AdminSettings.NAMES));
    names.add(config.get(AdminSettings.HOST));
    config.get(TransportSettings.ADVERTISE_HOST).ifPresent(names::add);
    AdminOptions options = AdminOptions.defaults().withNames(names)
        .withBounds(config.get(AdminSettings.CONNECTIONS), config.get(AdminSettings.TIMEOUT))
        .withAccess(access, config.get(AdminSettings.HEALTH_OPEN));
    return adminTls == null ? options : options.withTls(adminTls, needsCertificate());
  }

  private ServerTls tls(Path cert, Path key, ClientCertificates clients) throws IOException {
    TlsFiles named = TlsFiles.none().withCert(cert, key);
    Optional<Path> trust = config.get(SecuritySettings.TLS_TRUST);
    ServerTls made =
        ServerTls.of(trust.isPresent() ? named.withTrust(trust.get()) : named, clients);
    files.add(made.files());
    return made;
  }

  private Access access(Path users) throws IOException {
    Reloaded<UserFile> known = watched("users of the node", users, () -> UserFile.read(users));
    Optional<Path> rules = config.get(SecuritySettings.ACCESS_RULES);
    Supplier<AccessRules> roles = AccessRules::open;
    if (rules.isPresent()) {
      roles = watched("roles of the node", rules.get(), () -> RulesFile.read(rules.get()))::current;
    }
    return Access.of(known::current, roles);
  }

  private <T> Reloaded<T> watched(String name, Path file, Reloaded.Reading<T> reading) throws IOException {
    Reloaded<T> read = Reloaded.read(name, List.of(file), reading);
    files.add(read);
    return read;
  }

  /// `options` with TLS, if the node has it.
  TcpServerOptions secured(TcpServerOptions options) {
    return tls == null ? options : options.withTls(tls);
  }

  /// TLS of the data port; null for none.
  @Nullable ServerTls tls() {
    return tls;
  }

  Access access() {
    return access;
  }

  /// Credentials of the node for the registry of its rank.
  RegistryPass registryPass() {
    return registryPass;
  }

  /// Looks at the files from now on.
  ///
  /// @param disk runs the checks
  void watch(Scheduler disk) {
    files.forEach(file -> file.every(config.get(SecuritySettings.RELOAD_INTERVAL), disk));
  }

  /// Parts of the present files that are not in effect.
  List<String> problems() {
    return files.stream().flatMap(file -> file.problem().stream()).distinct().toList();
  }
}
