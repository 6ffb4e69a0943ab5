package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.transport.Endpoint;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// Shows the members of a cluster, as one of them sees it.
@Command(
    name = "stat",
    description = {"Shows which nodes are members of a cluster, and how full and how busy they are.", "",
      "Any member answers for all. Figures are some seconds old, minutes where there are hundreds. A member that is"
          + " draining gives its blocks, and takes no new ones. Ends with 69 at a node that is in no cluster.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock serve --cluster kv", "  penstock cluster stat 127.0.0.1:7733 --json", ""})
final class StatCommand extends MemberCommand {
  @Parameters(paramLabel = "ADDRESS", arity = "0..1", defaultValue = HERE, converter = NodeAddress.Converter.class,
      description = ANY)
  private Endpoint node = Endpoint.parse(HERE);

  StatCommand(Console console) {
    this(console, Dialer.ofWire());
  }

  StatCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Endpoint node() {
    return node;
  }

  @Override
  int run(Members members) {
    ClusterView view = members.view();
    Roster roster = Roster.of(view);
    if (isJson()) {
      console.json(roster);
    } else {
      console.out().print(new RosterTable(roster));
    }
    return ExitCode.OK;
  }
}
