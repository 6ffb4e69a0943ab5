package io.penstock.node.client;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.Reason;
import io.penstock.node.cli.SettingOptions;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.Durations;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.Setting;
import io.penstock.wire.ConnectionLostException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// What every command that talks to a node has: the node's address, and what its blocks look like.
abstract class ClientCommand implements Callable<Integer> {
  /// What must be the same here and there, or is the client's own to choose.
  static final List<Setting<?>> SETTINGS = List.of(NodeSettings.MODEL, NodeSettings.LAYERS, NodeSettings.BLOCK_BYTES,
      NodeSettings.BLOCK_TOKENS, NodeSettings.SLICE_BYTES, NodeSettings.WINDOW_BLOCKS);

  final Console console;
  private final Dialer dialer;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(names = "--connect", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:7733",
      description = "The node to talk to (default: ${DEFAULT-VALUE}).")
  private String address = "";

  @Option(names = "--timeout", paramLabel = "DURATION", defaultValue = "10s",
      description = "Longest wait for an answer (default: ${DEFAULT-VALUE}).")
  private String timeout = "";

  @Option(names = "--json", description = "Print the result for machines.")
  private boolean json;

  ClientCommand(Console console, Dialer dialer) {
    this.console = console;
    this.dialer = dialer;
  }

  @Override
  public final Integer call() throws IOException {
    var flags = SettingOptions.given(spec.commandLine().getParseResult(), SETTINGS);
    NodeConfig config = NodeConfig.resolve(null, console.environment(), flags);
    try (NodeLink node = dialer.dial(HostPort.parse(address), config, patience())) {
      return run(node, config);
    } catch (ConnectionLostException e) {
      throw new UnavailableException("the connection to the node at " + address + " ended (" + Reason.ofCause(e) + ")", e);
    }
  }

  /// @return the exit code
  abstract int run(NodeLink node, NodeConfig config) throws IOException;

  final boolean isJson() {
    return json;
  }

  final Duration patience() {
    return Durations.parse(timeout);
  }
}
