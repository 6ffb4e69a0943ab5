package io.penstock.node.config;

import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/// Settings of a node that is a member of a cluster.
public final class ClusterSettings {
  private static final String NONE = "none";
  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}";
  private static final String PRINTABLE = "[\\x21-\\x7e]{1,128}";
  private static final String WORDS = "[\\x21-\\x2e\\x30-\\x7e]{1,64}(/[\\x21-\\x2e\\x30-\\x7e]{1,64}){0,7}";

  public static final Setting<Optional<String>> CLUSTER = new Setting<>("cluster",
      AscendTypes.orNone(matching("NAME", "1 to 64 letters, digits and . _ -, beginning with a letter or digit", NAME)),
      NONE, "Cluster that the node joins, or forms: its members know which of them has which block.");
  public static final Setting<List<String>> SEEDS = new Setting<>("cluster.seeds",
      new SettingType<>("LIST", "addresses HOST:PORT of members, separated by commas, or none", ClusterSettings::seeds,
          all -> all.isEmpty() ? NONE : String.join(",", all)),
      NONE,
      "Members that may be there, by their cluster.host and cluster.port; --seeds is the same. A name is looked up"
          + " at each attempt, and each of its addresses is tried. none forms a cluster that others join.");
  public static final Setting<String> HOST = new Setting<>("cluster.host", SettingType.host(), "127.0.0.1",
      "Address at which the node talks with other members. Beyond this host only with cluster.secret.file, or with"
          + " --open-to-network.");
  public static final Setting<Integer> PORT =
      new Setting<>("cluster.port", SettingType.port(), "7800", "Port at which the node talks with other members.");
  public static final Setting<Optional<String>> NODE_NAME = new Setting<>("cluster.node",
      SettingType.orAuto(matching("NAME", "1 to 128 characters of ASCII without spaces", PRINTABLE)), SettingType.AUTO,
      "Name of the node, of which the cluster has one; auto is the address that clients connect to.");
  public static final Setting<Optional<String>> PLACE = new Setting<>("cluster.place",
      AscendTypes.orNone(matching("PLACE", "up to 8 words of ASCII such as zone1/rack7/host3", WORDS)),
      NONE, "Where the node stands, from wide to narrow: blocks come from the nearest member, and copies go to places"
          + " that differ.");
  public static final Setting<Optional<Path>> SECRET = new Setting<>("cluster.secret.file", SettingType.pathOrOff(),
      "off", "File whose first line, 16 characters or more, is the secret that all members share: it encrypts what they"
          + " say, and keeps out who does not have it.");
  public static final Setting<RegistryTls> TLS = new Setting<>("cluster.tls", SettingType.oneOf(RegistryTls.class),
      "auto", "Whether the node connects to the data ports of other members with TLS, to give them blocks: as"
          + " rank.registry.tls says of a registry.");
  public static final Setting<Optional<String>> USER = new Setting<>("cluster.user",
      AscendTypes.orNone(SettingType.text()), "none",
      "User of the node at other members, an admin there; none for one with a token.");
  public static final Setting<Optional<Path>> PASSWORD = new Setting<>("cluster.password.file",
      SettingType.pathOrOff(), "off",
      "File whose first line is the password of cluster.user, or a token, for members that ask for one.");
  public static final Setting<Long> TASK_RATE = new Setting<>("cluster.task.rate", SettingType.longSize(64 << 10),
      "256 MiB", "Most bytes a second that a task of this node sends to other members, unless it says another rate.");

  public static final Setting<Long> HOT_RATE = new Setting<>("cluster.hot.rate", SettingType.longSize(64 << 10),
      "64 MiB", "Bytes a second that this node is to give of one block: of a block that more is read of, other members"
          + " get copies, which go again when it is cold.");

  static final List<Setting<?>> ALL =
      List.of(CLUSTER, SEEDS, HOST, PORT, NODE_NAME, PLACE, SECRET, TLS, USER, PASSWORD, TASK_RATE, HOT_RATE);

  private ClusterSettings() {}

  private static SettingType<String> matching(String label, String rule, String form) {
    return new SettingType<>(label, rule, text -> {
      if (!text.matches(form)) {
        throw new IllegalArgumentException();
      }
      return text;
    }, Function.identity());
  }

  private static List<String> seeds(String text) {
    return text.strip().equals(NONE)
        ? List.of()
        : Arrays.stream(text.split(",", -1)).map(String::strip).map(ClusterSettings::seed).distinct().toList();
  }

  private static String seed(String text) {
    Endpoint place = Endpoint.parse(text);
    if (place.transport() != TransportKind.TCP) {
      throw new IllegalArgumentException();
    }
    return place.toString();
  }

  /// Adds settings that no member of a cluster can have.
  static void require(NodeConfig config, List<String> problems) {
    if (config.get(CLUSTER).isEmpty()) {
      Stream.concat(ALL.stream(), Stream.of(KvEventSettings.OF)).filter(config::changes).findFirst()
          .ifPresent(ignored -> problems.add("cluster must be a name for %s (%s)".formatted(config.said(ignored),
              config.was(CLUSTER))));
      return;
    }
    if (config.get(USER).isPresent() && config.get(PASSWORD).isEmpty()) {
      problems.add("%s must be a file for %s (%s)".formatted(PASSWORD.key(), config.said(USER), config.was(PASSWORD)));
    }
    if (config.get(SECRET).isEmpty() && isProtected(config)
        && !ConfigRules.isThisHost(config.get(NodeSettings.LISTEN_HOST))) {
      problems.add("%s must be a file for %s: a node that protects its connections protects its cluster (%s)".formatted(
          SECRET.key(), config.said(NodeSettings.LISTEN_HOST), config.was(SECRET)));
    }
  }

  private static boolean isProtected(NodeConfig config) {
    return config.get(SecuritySettings.TLS_CERT).isPresent() || config.get(SecuritySettings.AUTH_USERS).isPresent();
  }

  /// The protection that members lack, in the middle of a sentence; empty if other hosts may be members.
  static Optional<String> lack(NodeConfig config) {
    return config.get(CLUSTER).isEmpty() || config.get(SECRET).isPresent()
        ? Optional.empty()
        : Optional.of("no " + SECRET.key());
  }
}
