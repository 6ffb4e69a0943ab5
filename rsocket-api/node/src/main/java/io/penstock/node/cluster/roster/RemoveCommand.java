package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.transport.Endpoint;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Removes blocks from members.
@Command(
    name = "remove",
    description = {"Removes blocks from members.", "",
      "Blocks that readers hold stay until they are read.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster remove --pattern ^00 10.0.0.5:7733", ""})
final class RemoveCommand extends TaskCommand {
  @Parameters(paramLabel = "ADDRESS", arity = "0..1", defaultValue = HERE, converter = NodeAddress.Converter.class,
      description = ANY)
  private Endpoint node = Endpoint.parse(HERE);

  @Option(names = "--pattern", paramLabel = "REGEX", required = true,
      description = "Regular expression that is searched for in the hex digits of a block's hash.")
  private String pattern = "";

  @Option(names = "--from", paramLabel = "NODE", defaultValue = "",
      description = "Member whose blocks are meant (default: all members).")
  private String from = "";

  RemoveCommand(Console console) {
    super(console, Dialer.ofWire());
  }

  @Override
  Endpoint node() {
    return node;
  }

  @Override
  TaskOrder order(long bytesPerSecond) {
    return new TaskOrder(TaskOrder.Kind.REMOVE, pattern, "", bytesPerSecond);
  }

  @Override
  List<Member> concerned(Members members) {
    return members.sources(from, "");
  }
}
