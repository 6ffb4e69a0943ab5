package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.transport.Endpoint;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// Has full members give blocks to emptier ones.
@Command(
    name = "rebalance",
    description = {"Has members that are fuller than the average give blocks to emptier ones.", "",
      "Members that are draining take no part.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster rebalance 10.0.0.5:7733 --rate 64MiB", ""})
final class RebalanceCommand extends TaskCommand {
  @Parameters(paramLabel = "ADDRESS", arity = "0..1", defaultValue = HERE, converter = NodeAddress.Converter.class,
      description = ANY)
  private Endpoint node = Endpoint.parse(HERE);

  RebalanceCommand(Console console) {
    super(console, Dialer.ofWire());
  }

  @Override
  Endpoint node() {
    return node;
  }

  @Override
  TaskOrder order(long bytesPerSecond) {
    return new TaskOrder(TaskOrder.Kind.REBALANCE, "", "", bytesPerSecond);
  }

  @Override
  List<Member> concerned(Members members) {
    return members.view().members().stream().filter(member -> member.state() == Member.State.UP).toList();
  }
}
