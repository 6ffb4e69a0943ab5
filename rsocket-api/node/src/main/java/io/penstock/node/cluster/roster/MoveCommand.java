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

/// Moves blocks from members to other members.
@Command(
    name = "move",
    description = {"Moves blocks from members to other members.", "",
      "A block is removed when another member has said that it has it.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster move --pattern ^00 --to 10.0.0.6:7733 10.0.0.5:7733", ""})
final class MoveCommand extends TaskCommand {
  @Parameters(paramLabel = "ADDRESS", arity = "0..1", defaultValue = HERE, converter = NodeAddress.Converter.class,
      description = ANY)
  private Endpoint node = Endpoint.parse(HERE);

  @Option(names = "--pattern", paramLabel = "REGEX", defaultValue = "",
      description = "Regular expression that is searched for in the hex digits of a block's hash (default: all"
          + " blocks).")
  private String pattern = "";

  @Option(names = "--from", paramLabel = "NODE", defaultValue = "",
      description = "Member whose blocks are meant (default: all members).")
  private String from = "";

  @Option(names = "--to", paramLabel = "NODE", defaultValue = "",
      description = "Member that gets the blocks (default: the best one for each).")
  private String to = "";

  MoveCommand(Console console) {
    super(console, Dialer.ofWire());
  }

  @Override
  Endpoint node() {
    return node;
  }

  @Override
  TaskOrder order(long bytesPerSecond) {
    return new TaskOrder(TaskOrder.Kind.MOVE, pattern, to, bytesPerSecond);
  }

  @Override
  List<Member> concerned(Members members) {
    return members.sources(from, to);
  }
}
