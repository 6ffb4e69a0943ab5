package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.InputFile;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.SpaceSettings;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.node.link.NodeLink;
import io.penstock.node.link.OtherShape;
import io.penstock.node.option.LayoutPage;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.option.SecurityOptions;
import io.penstock.node.option.SettingOptions;
import io.penstock.node.option.TimeOption;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.Topic;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.text.Reason;
import io.penstock.node.tiers.TierRecording;
import io.penstock.wire.cluster.tier.Spread;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.report.RecordedConnections;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// A command that talks to a node: it has the address of the node and the layout of its blocks.
abstract class ClientCommand implements Callable<Integer> {
  /// Settings that name a space in addition to its layout. A node states them for each space, so their variables belong
  /// to clients.
  private static final List<Setting<?>> OWN = List.of(SpaceSettings.SALT, SpaceSettings.VALUE_PART_BYTES);

  /// Settings that name the space of a client.
  static final List<Setting<?>> SPACE = Stream.concat(LayoutSettings.ALL.stream(), OWN.stream()).toList();

  /// The layout, which node and client must both state, and limits of the client's own.
  static final List<Topic> TOPICS = List.of(LayoutPage.TOPIC,
      new Topic("Space", OWN),
      new Topic("Limits", List.of(NodeSettings.SLICE_BYTES, NodeSettings.WINDOW_BLOCKS)));

  final Console console;
  private final Dialer dialer;
  private @Nullable NodeAddress address;

  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Option(names = {"--connect", "--node"}, paramLabel = "ADDRESS", defaultValue = "127.0.0.1:7733", split = ",",
      converter = NodeAddress.Converter.class,
      description = "The node to talk to: HOST:PORT, unix:PATH or ws://HOST:PORT, with --tls what others call wss://"
          + "; with --cluster several, with commas between, of which any may be away (default: ${DEFAULT-VALUE}).")
  private List<Endpoint> connect = List.of(Endpoint.tcp("127.0.0.1", 7733));

  @Option(names = "--transport", paramLabel = "NAME", converter = NodeAddress.Way.Converter.class,
      description = "tcp, ws, uds or auto. With HOST:PORT, uds and auto switch to the Unix domain socket of "
          + "a node on this host; if it has none, uds is an error (default: that of the address).")
  private NodeAddress.@Nullable Way transport;

  @Option(names = "--cluster",
      description = "Talk to all nodes of the cluster that the node is in, as if they were one.")
  private boolean cluster;

  @Option(names = "--salt-file", paramLabel = "FILE",
      description = "File with the salt of a tenant, instead of --salt, which other users of the machine can see. The"
          + " variable PENSTOCK_SALT may have it, too.")
  private @Nullable String saltFile;

  @Option(names = "--timeout", paramLabel = "DURATION", defaultValue = "10s", converter = TimeOption.class,
      description = "Longest wait for an answer (default: ${DEFAULT-VALUE}).")
  private Duration timeout = Duration.ofSeconds(10);

  @Option(names = "--json", description = "Print the result for machines.")
  private boolean json;

  @Mixin
  private SecurityOptions security = new SecurityOptions();

  @Mixin
  private RecordOptions record = new RecordOptions();

  ClientCommand(Console console, Dialer dialer) {
    this.console = console;
    this.dialer = dialer;
  }

  @Override
  public final Integer call() throws IOException {
    var flags = SettingOptions.given(spec.commandLine().getParseResult(),
        TOPICS.stream().flatMap(topic -> topic.settings().stream()).toList());
    Map<String, String> variables = new HashMap<>(console.environment());
    if (saltFile != null) {
      flags.merge(SpaceSettings.SALT, saltOf(saltFile), (given, fromFile) -> {
        throw new IllegalArgumentException("--salt must be left out with --salt-file (was given)");
      });
    }
    for (Setting<?> setting : OWN) {
      String variable = variables.remove(setting.variable());
      if (variable != null) {
        flags.putIfAbsent(setting, variable);
      }
    }
    NodeConfig config = NodeConfig.resolve(null, variables, flags);
    if (!cluster && connect.size() > 1) {
      throw new IllegalArgumentException("--connect must be one address without --cluster (was " + connect + ")");
    }
    connect.forEach(security::requireFit);
    NodeAddress to = NodeAddress.of(connect.getFirst(), transport).orAt(connect.subList(1, connect.size()))
        .shown(security.pass(console.environment()));
    try (TierRecording recording = record.begin("")) {
      try {
        int code = run(recording == null
            ? to
            : to.heardBy(RecordedConnections.of(to.listener(), recording.recorder())), config);
        RecordOptions.ended(recording, code == ExitCode.OK ? null : "the command ended with code " + code);
        return code;
      } catch (IOException | RuntimeException e) {
        RecordOptions.ended(recording, "the command failed: " + e);
        throw e;
      }
    }
  }

  private int run(NodeAddress to, NodeConfig config) throws IOException {
    address = to;
    if (config.groups().size() > 1 && takesGroups()) {
      return overGroups(config.groups());
    }
    Work work = work(needsSpace(config) ? config.ofOneGroup() : config);
    return linked(config, work);
  }

  /// Does `work` with a node, over a link that names the space that `config` states.
  final int linked(NodeConfig config, Work work) throws IOException {
    NodeAddress to = requireNonNull(address, "call() knows the address");
    try (NodeLink node = dialled(to, config)) {
      return work.with(node);
    } catch (RemotePermanentException e) {
      throw OtherShape.told(to, config.space(), spec.optionsMap().keySet(), e);
    } catch (ConnectionLostException e) {
      throw new UnavailableException("the connection to the node at " + to + " ended (" + Reason.ofCause(e) + ")",
          e);
    }
  }

  private static String saltOf(String file) throws IOException {
    String salt = InputFile.text(file).strip();
    if (salt.isEmpty()) {
      throw new IllegalArgumentException("--salt-file must have a salt (was empty: " + file + ")");
    }
    return salt;
  }

  private NodeLink dialled(NodeAddress address, NodeConfig config) {
    if (cluster && isOfOneNode()) {
      throw new IllegalArgumentException("--cluster must be left out for a question about one node (was given)");
    } else if (!needsSpace(config)) {
      return cluster
          ? dialer.dialClusterNode(address, config, timeout)
          : dialer.dialNode(address, config, timeout);
    }
    if (!cluster && copies() != 1) {
      throw new IllegalArgumentException("--copies must be 1 without --cluster (was " + copies() + ")");
    }
    return cluster
        ? dialer.dialCluster(address, config, timeout, Spread.defaults().withCopies(copies()))
        : dialer.dial(address, config, timeout);
  }

  /// Members of a cluster that get each new block.
  int copies() {
    return 1;
  }

  /// Whether the work is over all nodes of a cluster.
  final boolean isOverCluster() {
    return cluster;
  }

  /// Whether the link must name the space that `config` states.
  boolean needsSpace(NodeConfig config) {
    return true;
  }

  /// Whether the command is about one node, also of a cluster.
  boolean isOfOneNode() {
    return false;
  }

  /// Whether the command works over all KV groups of a model that has several.
  boolean takesGroups() {
    return false;
  }

  /// The work over all KV groups.
  ///
  /// @param groups the configuration of each
  /// @return the exit code
  int overGroups(List<NodeConfig> groups) throws IOException {
    throw new IllegalStateException("takesGroups() must be true for a command of groups (was false)");
  }

  /// The work to do with a node. Wrong options and files are refused here, before a connection is made.
  abstract Work work(NodeConfig config) throws IOException;

  /// Work of a command with a node.
  interface Work {
    /// @return the exit code
    int with(NodeLink node) throws IOException;
  }

  final boolean isJson() {
    return json;
  }

  final Duration patience() {
    return timeout;
  }
}
