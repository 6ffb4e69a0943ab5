package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import java.util.List;
import picocli.CommandLine.Command;

/// Has full members give blocks to emptier ones.
@Command(
    name = "rebalance",
    description = {"Has members that are fuller than the average give blocks to emptier ones.", "",
      "Members that are draining take no part.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster rebalance 10.0.0.5:7733 --rate 64MiB", ""})
final class RebalanceCommand extends AddressedTask {
  RebalanceCommand(Console console) {
    super(console);
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
