package io.penstock.node.client;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.Reason;
import io.penstock.node.cli.SettingOptions;
import io.penstock.node.cli.TimeOption;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.LayoutSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.Setting;
import io.penstock.node.config.SpaceSettings;
import io.penstock.node.config.Topic;
import io.penstock.wire.ConnectionLostException;
import io.penstock.wire.RemotePermanentException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// A command that talks to a node: it has the address of the node and the layout of its blocks.
abstract class ClientCommand implements Callable<Integer> {
  /// What names the space of a client.
  static final List<Setting<?>> SPACE = Stream.concat(LayoutSettings.ALL.stream(),
      Stream.of(SpaceSettings.SALT, SpaceSettings.VALUE_PART_BYTES)).toList();

  /// The layout, which node and client must both state, and limits of the client's own.
  static final List<Topic> TOPICS = List.of(new Topic("Model and blocks", LayoutSettings.ALL),
      new Topic("Space", List.of(SpaceSettings.SALT, SpaceSettings.VALUE_PART_BYTES)),
      new Topic("Limits", List.of(NodeSettings.SLICE_BYTES, NodeSettings.WINDOW_BLOCKS)));

  final Console console;
  private final Dialer dialer;

  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Option(names = "--connect", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:7733",
      converter = HostPort.Converter.class,
      description = "The node to talk to (default: ${DEFAULT-VALUE}).")
  private HostPort address = new HostPort("127.0.0.1", 7733);

  @Option(names = "--timeout", paramLabel = "DURATION", defaultValue = "10s", converter = TimeOption.class,
      description = "Longest wait for an answer (default: ${DEFAULT-VALUE}).")
  private Duration timeout = Duration.ofSeconds(10);

  @Option(names = "--json", description = "Print the result for machines.")
  private boolean json;

  @Mixin
  private SecurityOptions security = new SecurityOptions();

  ClientCommand(Console console, Dialer dialer) {
    this.console = console;
    this.dialer = dialer;
  }

  @Override
  public final Integer call() throws IOException {
    var flags = SettingOptions.given(spec.commandLine().getParseResult(),
        TOPICS.stream().flatMap(topic -> topic.settings().stream()).toList());
    NodeConfig config = NodeConfig.resolve(null, console.environment(), flags);
    Work work = work(config);
    try (NodeLink node = dialled(config)) {
      return work.with(node);
    } catch (RemotePermanentException e) {
      throw OtherShape.told(address, config.space(), spec.optionsMap().keySet(), e);
    } catch (ConnectionLostException e) {
      throw new UnavailableException("the connection to the node at " + address + " ended (" + Reason.ofCause(e) + ")",
          e);
    }
  }

  private NodeLink dialled(NodeConfig config) throws IOException {
    NodeAddress node = security.address(address, console.environment());
    return needsSpace(config) ? dialer.dial(node, config, timeout) : dialer.dialNode(node, config, timeout);
  }

  /// Whether the link must name the space that `config` states.
  boolean needsSpace(NodeConfig config) {
    return true;
  }

  /// The work to do with a node. Wrong options and files are refused here, before a connection is made.
  abstract Work work(NodeConfig config) throws IOException;

  /// What a command does with a node.
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
