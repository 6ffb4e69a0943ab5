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
    description = {"Removes blocks from members: those of a space, those that a pattern finds, or both.", "",
      "Blocks that readers hold stay until they are read.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock cluster remove --space tenant7 10.0.0.5:7733",
      "  penstock cluster remove --pattern ^00 10.0.0.5:7733", ""})
final class RemoveCommand extends AddressedTask {
  @Option(names = {"--pattern", "--regex"}, paramLabel = "REGEX", defaultValue = "",
      description = "Regular expression that is searched for in the hex digits of a block's hash (default with --space:"
          + " all blocks).")
  private String pattern = "";

  @Option(names = "--space", paramLabel = "NAME", defaultValue = "",
      description = "Name of the space whose blocks are meant, as the members' settings have it (default: all"
          + " spaces).")
  private String space = "";

  @Option(names = "--from", paramLabel = "NODE", defaultValue = "",
      description = "Member whose blocks are meant (default: all members).")
  private String from = "";

  RemoveCommand(Console console) {
    super(console);
  }

  @Override
  TaskOrder order(long bytesPerSecond) {
    if (pattern.isEmpty() && space.isEmpty()) {
      throw new IllegalArgumentException("--space or --pattern must be given (was none)");
    }
    return new TaskOrder(TaskOrder.Kind.REMOVE, pattern, "", bytesPerSecond, space);
  }

  @Override
  List<Member> concerned(Members members) {
    return members.sources(from, "");
  }
}
