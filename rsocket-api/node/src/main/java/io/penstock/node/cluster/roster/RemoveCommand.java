package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// Removes blocks from members.
@Command(
    name = "remove",
    description = {"Removes blocks from members.", "",
      "Blocks that readers hold stay until they are read.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster remove --pattern ^00 10.0.0.5:7733", ""})
final class RemoveCommand extends AddressedTask {
  @Option(names = "--pattern", paramLabel = "REGEX", required = true,
      description = "Regular expression that is searched for in the hex digits of a block's hash.")
  private String pattern = "";

  @Option(names = "--from", paramLabel = "NODE", defaultValue = "",
      description = "Member whose blocks are meant (default: all members).")
  private String from = "";

  RemoveCommand(Console console) {
    super(console);
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
