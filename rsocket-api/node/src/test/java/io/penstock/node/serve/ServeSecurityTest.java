package io.penstock.node.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.penstock.node.CommandLineRun;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.AdminClient;
import io.penstock.node.link.HostPort;
import io.penstock.node.link.NodePass;
import io.penstock.testkit.Eventually;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.TlsFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A node with TLS, users and roles, and the commands that reach it.
@Timeout(120)
final class ServeSecurityTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final Map<String, String> ENVIRONMENT = Map.of("PENSTOCK_BLOCK_BYTES", "4KiB");

  @TempDir
  Path folder;
  private @Nullable Node node;

  @BeforeEach
  void files() throws Exception {
    X509Bundle authority = builder("authority").setIsCertificateAuthority(true).buildSelfSigned();
    X509Bundle own = builder("node").addSanIpAddress("127.0.0.1").buildIssuedBy(authority);
    write("authority.pem", authority.getRootCertificatePEM());
    write("node.pem", own.getCertificatePathPEM());
    write("node.key", own.getPrivateKeyPEM());
    String writer = line(new byte[0], "writer", "--new-token", file("writer.token"));
    String reader = line("secret\n".getBytes(UTF_8), "reader", "--rounds", "1000");
    assertThat(writer + reader).doesNotContain("secret")
        .doesNotContain(Files.readString(folder.resolve("writer.token")));
    write("users", writer + reader);
    write("access.yaml", "{users: {writer: writer, reader: [reader]}}");
    write("password", "secret\n");
    write("wrong", "guess\n");
  }

  private static CertificateBuilder builder(String name) {
    return new CertificateBuilder().ecp256().subject("CN=" + name).notBefore(Instant.now().minus(Duration.ofDays(1)))
        .notAfter(Instant.now().plus(Duration.ofDays(1)));
  }

  private static String line(byte[] in, String... arguments) {
    List<String> all = new ArrayList<>(List.of("password"));
    all.addAll(List.of(arguments));
    CommandLineRun run = CommandLineRun.with(Map.of(), in, all.toArray(String[]::new));
    assertThat(run.exitCode()).as(run.err()).isZero();
    return run.out();
  }

  @AfterEach
  void stop() {
    if (node != null) {
      node.close().block(SOON);
    }
  }

  @Test
  void fileThatCannotBeRead_isNamedWithItsSetting() throws IOException {
    Files.createDirectory(folder.resolve("a-folder"));
    Map<String, String> keys = Map.of("auth-users", "", "access-rules", "auth.users: " + file("users"), "tls-cert",
        "tls.key: " + file("node.key"), "tls-key", "tls.cert: " + file("node.pem"), "tls-trust", "tls.cert: "
            + file("node.pem") + "\ntls.key: " + file("node.key"),
        "s3-keys-file", "s3: 127.0.0.1:0", "cluster-password-file", "cluster: c");
    for (Map.Entry<String, String> each : keys.entrySet()) {
      write("node.yaml", "listen.port: 0\nadmin.port: off\ndram: 4MiB\n" + each.getValue() + "\n");
      for (String wrong : List.of("nothing", "a-folder")) {
        CommandLineRun run = CommandLineRun.with(ENVIRONMENT, new byte[0], "serve", "--config", file("node.yaml"),
            "--" + each.getKey(), file(wrong));
        assertThat(run.err()).isEqualTo(
            "serve: %s must be a file that this user can read (was %s, from --%s: %s)\n".formatted(
                each.getKey().replace('-', '.'), file(wrong), each.getKey(),
                wrong.equals("nothing") ? "no such file" : "is a folder"));
        assertThat(run.exitCode()).isEqualTo(74);
      }
    }
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
  }

  private String file(String name) {
    return folder.resolve(name).toString();
  }

  private NodeConfig config(String more) throws IOException {
    write("node.yaml", """
        listen.port: 0
        admin.port: 0
        dram: 100 blocks
        reload.interval: 20ms
        """ + more);
    return NodeConfig.resolve(folder.resolve("node.yaml"), ENVIRONMENT, Map.of());
  }

  private String secured() {
    return """
        tls.cert: %s
        tls.key: %s
        auth.users: %s
        access.rules: %s
        """.formatted(file("node.pem"), file("node.key"), file("users"), file("access.yaml"));
  }

  private void serve() throws IOException {
    node = Node.start(config(secured())).block(SOON);
  }

  private CommandLineRun run(Map<String, String> secret, String... arguments) {
    Map<String, String> environment = new HashMap<>(ENVIRONMENT);
    environment.putAll(secret);
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--connect", "127.0.0.1:" + requireNonNull(node).port()));
    return CommandLineRun.with(environment, new byte[0], all.toArray(String[]::new));
  }

  private CommandLineRun trusting(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--tls-trust", file("authority.pem")));
    return run(Map.of(), all.toArray(String[]::new));
  }

  private CommandLineRun asReader(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--user", "reader", "--password-file", file("password")));
    return trusting(all.toArray(String[]::new));
  }

  @Test
  void commands_reachTheNodeAsTheirUsers_andMayWhatTheirRolesMay() throws IOException {
    serve();

    CommandLineRun put = trusting("put", "--count", "3", "--token-file", file("writer.token"));
    assertThat(put.exitCode()).as(put.err()).isZero();
    CommandLineRun match = asReader("match", "--trace-id", "0-2");
    assertThat(match.exitCode()).as(match.err()).isZero();
    assertThat(match.out()).contains("3 of 3");
    String token = Files.readString(folder.resolve("writer.token")).strip();
    CommandLineRun stat = run(Map.of("PENSTOCK_TOKEN", token), "stat", "--tls-trust", file("authority.pem"));
    assertThat(stat.exitCode()).as(stat.err()).isZero();

    CommandLineRun refused = asReader("put", "--count", "5");
    assertThat(refused.exitCode()).isEqualTo(77);
    assertThat(refused.err()).contains("role must be writer for penstock.v1.put in space").contains("(was reader)");
    assertThat(Files.getPosixFilePermissions(folder.resolve("writer.token")))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
  }

  @Test
  void commandsWithoutWhatTheNodeWants_areToldWhy() throws IOException {
    serve();

    assertUnavailable(run(Map.of(), "stat"), "connection must begin with TLS (began without)");
    assertUnavailable(run(Map.of(), "stat", "--tls"), "must have a certificate that is trusted");
    assertRefused(trusting("stat"), "SETUP must have credentials (had none)");
    assertRefused(trusting("stat", "--user", "reader", "--password-file", file("wrong")),
        "refused the connection (credentials must be those of a user (were not))");
    assertThat(trusting("stat", "--user", "reader").err()).contains("must have the password of --user");
    assertThat(run(Map.of(), "stat", "--tls-cert", file("node.pem")).exitCode()).isEqualTo(2);
    assertThat(run(Map.of(), "stat", "--tls-trust", file("users")).exitCode()).isEqualTo(65);
  }

  private static void assertRefused(CommandLineRun run, String words) {
    assertThat(run.err()).contains(words).doesNotContain("guess");
    assertThat(run.exitCode()).isEqualTo(77);
  }

  private static void assertUnavailable(CommandLineRun run, String words) {
    assertThat(run.err()).contains(words).doesNotContain("guess");
    assertThat(run.exitCode()).isEqualTo(69);
  }

  @Test
  void filesThatChange_areReadAgain_andABrokenOneIsAWarning() throws Exception {
    serve();
    assertThat(asReader("put", "--count", "1").exitCode()).isEqualTo(77);

    write("access.yaml", "{users: {reader: admin}}");
    awaits(() -> asReader("put", "--count", "1").exitCode() == 0);
    write("access.yaml", "{users: {reader: [boss]}}");
    awaits(() -> health().contains("users.reader must have roles among admin, reader, writer (has boss)"));
    assertThat(asReader("put", "--count", "2").exitCode()).isZero();
    assertThat(health()).contains("\"state\":\"ready\"");
  }

  private String health() {
    try {
      HostPort admin = new HostPort("127.0.0.1", requireNonNull(node).adminPort().orElseThrow());
      try (AdminClient client = new AdminClient(admin, new NodePass(
          ClientTls.of(TlsFiles.none().withTrust(folder.resolve("authority.pem"))),
          Credentials.simple("reader", "secret".toCharArray())), SOON)) {
        return client.get("/health").body();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static void awaits(BooleanSupplier condition) {
    Eventually.holds("the change counts", SOON, condition::getAsBoolean);
  }

  @Test
  void filesOfNoForm_keepANodeFromStarting() throws IOException {
    for (String broken : List.of("access.yaml", "users", "node.pem", "node.key")) {
      String good = Files.readString(folder.resolve(broken));
      write(broken, "nonsense: [");
      NodeConfig config = config(secured());
      assertThatThrownBy(() -> Node.start(config).block(SOON)).as(broken).hasMessageContaining(file(broken));
      write(broken, good);
    }
  }

  @Test
  void rules_haveRolesOfTheirOwn() throws IOException {
    write("roles.yaml", """
        roles:
          team: {may: writer, spaces: [chat]}
        users:
          alice: [team, reader]
          "*": reader
        """);
    assertThat(RulesFile.read(folder.resolve("roles.yaml")).grants()).containsOnlyKeys("alice", "*")
        .hasEntrySatisfying("alice", grants -> assertThat(grants).hasSize(2));
    for (String wrong : List.of("[]", "users: 3", "{users: {a: other}}", "{users: {a: []}}", "{roles: {}}",
        "{roles: {reader: {may: admin, spaces: '*'}}, users: {}}", "{roles: {a: {may: king, spaces: '*'}}, users: {}}",
        "{roles: {a: {may: reader}}, users: {}}", "{user: {}}")) {
      write("roles.yaml", wrong);
      assertThatThrownBy(() -> RulesFile.read(folder.resolve("roles.yaml"))).as(wrong)
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(" must ");
    }
  }

  @Test
  void secureNode_mayListenBeyondItsHost_andOthersMayNot() throws IOException {
    assertThat(config(secured() + "listen.host: 0.0.0.0\n").withoutEffect()).isEmpty();
    assertThatThrownBy(() -> config("auth.users: u\nlisten.host: 0.0.0.0\n")).hasMessageContaining("have no TLS;");
    assertThatThrownBy(() -> config("tls.cert: c\ntls.key: k\nlisten.host: 0.0.0.0\n"))
        .hasMessageContaining("have no authentication;");
    assertThatThrownBy(() -> config("tls.cert: c\n")).hasMessageContaining("tls.key must be a file for tls.cert c");
    assertThatThrownBy(() -> config("tls.client.auth: need\n")).hasMessageContaining("tls.cert must be a file for")
        .hasMessageContaining("tls.trust must be a file for");
    assertThatThrownBy(() -> config("access.rules: r\n")).hasMessageContaining("auth.users must be a file for");
  }

  @Test
  void adminPort_hasTheTlsAndTheUsersOfTheDataPort() throws Exception {
    write("access.yaml", "{users: {writer: writer}}");
    node = Node.start(config(secured() + "admin.health.open: true\n")).block(SOON);
    String admin = "127.0.0.1:" + requireNonNull(node).adminPort().getAsInt();

    CommandLineRun answered = CommandLineRun.with(ENVIRONMENT, new byte[0], "whatif", "--admin", admin,
        "--tls-trust", file("authority.pem"), "--token-file", file("writer.token"));
    assertThat(answered.exitCode()).as(answered.err()).isZero();
    assertRefused(CommandLineRun.with(ENVIRONMENT, new byte[0], "whatif", "--admin", admin, "--tls-trust",
        file("authority.pem")), "request must have credentials (had none)");
    assertRefused(CommandLineRun.with(ENVIRONMENT, new byte[0], "whatif", "--admin", admin, "--tls-trust",
        file("authority.pem"), "--user", "reader", "--password-file", file("password")),
        "role must be reader in every space (was not)");
    assertUnavailable(CommandLineRun.with(ENVIRONMENT, new byte[0], "whatif", "--admin", admin),
        "if it has TLS, --tls or --tls-trust must be given");
    assertUnavailable(CommandLineRun.with(ENVIRONMENT, new byte[0], "whatif", "--admin", admin, "--tls"),
        "must have TLS with a certificate that is trusted");
    try (AdminClient probe = new AdminClient(HostPort.parse(admin), new NodePass(
        ClientTls.of(TlsFiles.none().withTrust(folder.resolve("authority.pem"))), Credentials.none()), SOON)) {
      assertThat(probe.get("/health")).isEqualTo(new AdminClient.Answer(200, "{\"state\":\"ready\"}\n"));
      assertThat(probe.get("/metrics").status()).isEqualTo(401);
    }
  }

  @Test
  void adminPort_beyondItsHost_needsTlsAndUsers_too() throws IOException {
    assertThat(config(secured() + "admin.host: 0.0.0.0\n").withoutEffect()).isEmpty();
    assertThatThrownBy(() -> config("admin.host: 0.0.0.0\n"))
        .hasMessageContaining("admin.host must be an address of this host alone");
    assertThat(config("admin.host: 0.0.0.0\nopen.to.network: true\n").withoutEffect()).isEmpty();
  }

  @Test
  void aRank_registersWithTheTlsOfItsNode_andASecret() throws IOException {
    node = Node.start(config(secured() + "registry: true\n")).block(SOON);
    String rank = "rank.side: prefill\nrank.registry: 127.0.0.1:%d\ntls.trust: %s\n".formatted(
        requireNonNull(node).port(), file("authority.pem"));
    Node registered = Node.start(config(rank + "rank.registry.password.file: " + file("writer.token") + "\n"))
        .block(SOON);
    CommandLineRun shown = trusting("registry", "--token-file", file("writer.token"));
    assertThat(shown.out()).as(shown.err()).contains("penstock", "prefill", "ready");
    String token = "rank.registry.password.file: " + file("writer.token") + "\n";
    Node restarted = Node.start(config(rank + token)).block(SOON); // the rank belongs to the user, not to the process
    requireNonNull(registered).close().block(SOON);
    requireNonNull(restarted).close().block(SOON);
    String jdk = "rank.side: prefill\nrank.registry: 127.0.0.1:%d\n".formatted(requireNonNull(node).port()) + token;
    assertThat(RegistryPass.of(config(jdk)).tls()).as("neither certificate nor authorities").isNull();
    assertThat(RegistryPass.of(config(jdk + "rank.registry.tls: on\n")).tls()).isNotNull();
    assertThat(RegistryPass.of(config(rank + token + "rank.registry.tls: off\n")).tls()).isNull();
    write("short", "guess\n");
    Files.setPosixFilePermissions(folder.resolve("short"), PosixFilePermissions.fromString("rw-r--r--"));
    assertThatThrownBy(() -> RegistryPass.of(config(rank + token + "rank.secret.file: " + file("short") + "\n")))
        .hasMessageStartingWith(
            "rank.secret.file must be closed to other users, rw------- for example (was rw-r--r--: ");
    Files.setPosixFilePermissions(folder.resolve("short"), PosixFilePermissions.fromString("rw-------"));
    assertThatThrownBy(() -> RegistryPass.of(config(rank + token + "rank.secret.file: " + file("short") + "\n")))
        .hasMessageEndingWith("short: secret must be 16 to 64 bytes (was 5)");
    assertThatThrownBy(() -> Node.start(config(rank)).block(SOON)).hasMessageContaining("refused the connection");
  }
}
