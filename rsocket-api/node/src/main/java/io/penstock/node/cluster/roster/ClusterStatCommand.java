package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.node.link.NodeLink;
import io.penstock.node.option.SecurityOptions;
import io.penstock.node.option.TimeOption;
import io.penstock.node.text.Reason;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Shows the members of a cluster, as one of them sees it.
@Command(
    name = "stat",
    description = {"Shows which nodes are members of a cluster, and how full and how busy they are.", "",
      "Any member answers for all. Figures are at most some seconds old. A member that is draining gives its blocks, and"
          + " takes no new ones. Ends with 69 at a node that is in no cluster.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock serve --cluster kv", "  penstock cluster stat 127.0.0.1:7733 --json", ""})
final class ClusterStatCommand implements Callable<Integer> {
  private final Console console;
  private final Dialer dialer;

  @Parameters(paramLabel = "ADDRESS", arity = "0..1", defaultValue = "127.0.0.1:7733",
      converter = NodeAddress.Converter.class,
      description = "A member: HOST:PORT at which its clients connect, unix:PATH or ws://HOST:PORT"
          + " (default: ${DEFAULT-VALUE}).")
  private Endpoint node = Endpoint.tcp("127.0.0.1", 7733);

  @Option(names = "--timeout", paramLabel = "DURATION", defaultValue = "10s", converter = TimeOption.class,
      description = "Longest wait for an answer (default: ${DEFAULT-VALUE}).")
  private Duration timeout = Duration.ofSeconds(10);

  @Option(names = "--json", description = "Print the result for machines.")
  private boolean json;

  @Mixin
  private SecurityOptions security = new SecurityOptions();

  ClusterStatCommand(Console console) {
    this(console, Dialer.ofWire());
  }

  ClusterStatCommand(Console console, Dialer dialer) {
    this.console = console;
    this.dialer = dialer;
  }

  @Override
  public Integer call() throws IOException {
    security.requireFit(node);
    NodeAddress to = NodeAddress.of(node, null).shown(security.pass(console.environment()));
    Roster roster = asked(to);
    if (json) {
      console.json(roster);
    } else {
      console.out().print(new RosterTable(roster));
    }
    return ExitCode.OK;
  }

  private Roster asked(NodeAddress to) {
    try (NodeLink link = dialer.dialNode(to, NodeConfig.defaults(), timeout)) {
      ClusterView view = Answers.of(link.members(), timeout);
      return Roster.of(view.cluster(), view.members());
    } catch (ConnectionLostException e) {
      throw new UnavailableException("the connection to the node at " + to + " ended (" + Reason.ofCause(e) + ")", e);
    }
  }
}
