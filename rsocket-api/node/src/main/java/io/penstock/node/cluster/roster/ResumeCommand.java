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

/// Has a member that was drained take new blocks again.
@Command(
    name = "resume",
    description = {"Has a member that was drained take new blocks again.", "",
      "A drain that runs is cancelled. Blocks that it gave away stay where they are.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster resume 10.0.0.5:7733 10.0.0.6:7733", ""})
final class ResumeCommand extends TaskCommand {
  @Parameters(index = "0", paramLabel = "NODE",
      description = "Name of the member, as 'penstock cluster stat' shows it.")
  private String name = "";

  @Parameters(index = "1", paramLabel = "ADDRESS", arity = "0..1", defaultValue = HERE,
      converter = NodeAddress.Converter.class, description = ANY)
  private Endpoint node = Endpoint.parse(HERE);

  ResumeCommand(Console console) {
    super(console, Dialer.ofWire());
  }

  @Override
  Endpoint node() {
    return node;
  }

  @Override
  TaskOrder order(long bytesPerSecond) {
    return new TaskOrder(TaskOrder.Kind.RESUME, "", "", bytesPerSecond);
  }

  @Override
  List<Member> concerned(Members members) {
    return List.of(members.named(name));
  }
}
