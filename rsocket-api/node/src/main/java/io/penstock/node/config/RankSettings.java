package io.penstock.node.config;

import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.PlanRefusedException;
import io.penstock.disagg.registry.Registration.Engine;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.text.Durations;
import io.penstock.wire.transport.Endpoint;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Settings of a node that is a prefill or a decode rank. [LayoutSettings] describe the whole model then, and the node
/// has the layers and heads of its rank.
public final class RankSettings {
  private static final int MOST_RANKS = 1 << 16;
  private static final LifecycleOptions LIFECYCLE = LifecycleOptions.defaults();

  public static final Setting<Optional<Side>> SIDE = new Setting<>("rank.side",
      AscendTypes.orNone(SettingType.oneOf(Side.class)), "none",
      "Role of the node where one node prefills a request and another decodes it: prefill keeps the blocks "
          + "of a request until its decode ranks are done; decode only registers.");
  public static final Setting<String> INSTANCE = new Setting<>("rank.instance", SettingType.text(), "penstock",
      "Name of the instance that the rank belongs to.");
  public static final Setting<Integer> NUMBER = new Setting<>("rank.number", SettingType.count(0, MOST_RANKS - 1), "0",
      "Number of the rank in its instance: by data-parallel replica, stage, prefill context rank, then tensor-parallel"
          + " rank.");
  public static final Setting<Integer> TP = ranks("rank.tp", "Tensor-parallel ranks of the instance.");
  public static final Setting<Integer> PP = ranks("rank.pp", "Pipeline stages of the instance.");
  public static final Setting<Integer> DP = ranks("rank.dp", "Data-parallel replicas of the instance.");
  public static final Setting<Integer> PCP = ranks("rank.pcp", "Prefill context ranks of the instance.");
  public static final Setting<Integer> DCP = ranks("rank.dcp", "Decode context ranks of the instance.");
  public static final Setting<List<Endpoint>> REGISTRY = new Setting<>("rank.registry",
      TransportSettings.addresses(), "none",
      "Nodes that keep the registry, at which the rank registers and says that it lives: one, or several of a cluster,"
          + " of which the rank asks the next if one is away. A name is looked up at each connection, and each of its"
          + " addresses is tried.");
  public static final Setting<Optional<String>> REGISTRY_USER = new Setting<>("rank.registry.user",
      AscendTypes.orNone(SettingType.text()), "none",
      "User of the rank at the registry, its owner there; none for one with a token.");
  public static final Setting<Optional<Path>> REGISTRY_PASSWORD = new Setting<>("rank.registry.password.file",
      SettingType.pathOrOff(), "off",
      "File whose first line is the password of rank.registry.user, or a token, for a registry that asks for one.");
  public static final Setting<RegistryTls> REGISTRY_TLS = new Setting<>("rank.registry.tls",
      SettingType.oneOf(RegistryTls.class), "auto",
      "Whether the rank connects to its registry with TLS: auto does if tls.cert or tls.trust is a file. It shows"
          + " tls.cert, and trusts tls.trust, or else the authorities of the JDK; any_host lets the registry's"
          + " certificate name another host.");
  public static final Setting<Optional<Path>> SECRET = new Setting<>("rank.secret.file", SettingType.pathOrOff(), "off",
      "File whose first line is the secret that owns the rank at a registry without users; created if it is missing."
          + " A restarted rank has its place at once. With off, each start has a secret of its own, and a rank that was"
          + " killed waits until the registry has not heard of it for 10 s.");
  public static final Setting<Optional<Engine>> ENGINE = new Setting<>("rank.engine", AscendTypes.orNone(engine()),
      "none",
      "HTTP endpoint of the engine that computes with the blocks of this rank, and settings for gateways behind #; a"
          + " gateway that follows the registry finds the engine by it. One rank of an instance names it.");
  public static final Setting<Duration> LEASE = new Setting<>("rank.lease", SettingType.duration(),
      Durations.print(LIFECYCLE.lease().life()),
      "How long a prefill rank keeps the blocks of a request after the last byte moved or a decode rank renewed it.");
  public static final Setting<Duration> LONGEST = new Setting<>("rank.lease.longest", SettingType.duration(),
      Durations.print(LIFECYCLE.lease().longest()), "How long a prefill rank keeps the blocks of a request at most.");
  public static final Setting<Duration> BOOTSTRAP = new Setting<>("rank.bootstrap", SettingType.duration(),
      Durations.print(LIFECYCLE.patience().bootstrap()),
      "How long a prefill rank waits for the first sign of a decode rank.");

  static final List<Setting<?>> ALL =
      List.of(SIDE, INSTANCE, NUMBER, TP, PP, DP, PCP, DCP, REGISTRY, REGISTRY_USER, REGISTRY_PASSWORD,
          REGISTRY_TLS, SECRET, ENGINE, LEASE, LONGEST,
          BOOTSTRAP);

  private RankSettings() {}

  /// Addresses of the registry in text; null for none.
  public static @Nullable String registry(NodeConfig config) {
    return config.get(REGISTRY).isEmpty() ? null : REGISTRY.type().print().apply(config.get(REGISTRY));
  }

  private static Setting<Integer> ranks(String key, String description) {
    return new Setting<>(key, SettingType.count(1, MOST_RANKS), "1", description);
  }

  /// The role is that of the rank, [#engine(NodeConfig)].
  private static SettingType<Engine> engine() {
    return new SettingType<>("URL", "an http or https URL of at most 512 characters",
        text -> new Engine(Engine.Role.BOTH, text.strip(), false), Engine::url);
  }

  /// The engine of the rank, in the role of its side; null for none.
  public static @Nullable Engine engine(NodeConfig config) {
    boolean isPrefill = config.get(SIDE).filter(side -> side == Side.PREFILL).isPresent();
    return config.get(ENGINE).map(engine -> new Engine(isPrefill ? Engine.Role.PREFILL : Engine.Role.DECODE,
        engine.url(), false)).orElse(null);
  }

  /// Rank in `config`; empty for a node that is no rank.
  static Optional<NodeRank> of(NodeConfig config) {
    return config.has(SIDE) ? config.get(SIDE).map(side -> rank(config, side)) : Optional.empty();
  }

  private static NodeRank rank(NodeConfig config, Side side) {
    Parallelism parallelism =
        new Parallelism(config.get(TP), config.get(PP), config.get(DP), config.get(PCP), config.get(DCP));
    return new NodeRank(side, new RankId(config.get(INSTANCE), config.get(NUMBER)),
        Manifest.of(config.get(LayoutSettings.MODEL), StatedLayout.largest(config).layout(), parallelism));
  }

  /// Times of the requests that a prefill rank keeps.
  public static LifecycleOptions lifecycle(NodeConfig config) {
    LifecycleOptions.Patience patience = LIFECYCLE.patience();
    return LIFECYCLE.withLease(config.get(LEASE), config.get(LONGEST)).withPatience(
        new LifecycleOptions.Patience(config.get(BOOTSTRAP), patience.waiting(), patience.idle(), patience.drain()));
  }

  /// Adds settings that no rank can have.
  static void require(NodeConfig config, List<String> problems) {
    if (config.get(LONGEST).compareTo(config.get(LEASE)) < 0) {
      problems.add("%s must be >= %s (%s)".formatted(LONGEST.key(), config.said(LEASE), config.was(LONGEST)));
    }
    if (config.get(REGISTRY_USER).isPresent() && config.get(REGISTRY_PASSWORD).isEmpty()) {
      problems.add("%s must be a file for %s (%s)".formatted(REGISTRY_PASSWORD.key(), config.said(REGISTRY_USER),
          config.was(REGISTRY_PASSWORD)));
    }
    if (config.get(ENGINE).isPresent() && config.get(REGISTRY).isEmpty()) {
      problems.add("%s must be an address for %s (%s)".formatted(REGISTRY.key(), config.said(ENGINE),
          config.was(REGISTRY)));
    }
    if (config.get(SIDE).isEmpty()) {
      if (!config.get(REGISTRY).isEmpty()) {
        problems.add("rank.side must be prefill or decode for %s (%s)".formatted(config.said(REGISTRY),
            config.was(SIDE)));
      }
      return;
    }
    if (config.get(NodeSettings.SPACES_OPEN)) {
      problems.add("rank.side must be none with %s: a rank has one space (%s)".formatted(
          config.said(NodeSettings.SPACES_OPEN), config.was(SIDE)));
    }
    if (!StatedLayout.largest(config).name().isEmpty()) {
      problems.add("rank.side must be none with a model of several KV groups: a rank has one space (%s)".formatted(
          config.was(SIDE)));
      return;
    }
    try {
      of(config);
    } catch (IllegalArgumentException | ArithmeticException | PlanRefusedException e) {
      problems.add("rank of %s: %s".formatted(config.said(NUMBER), e.getMessage()));
    }
  }
}
