package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.wire.cluster.TaskOrder;
import picocli.CommandLine.Command;

/// Moves blocks from members to other members.
@Command(
    name = "move",
    description = {"Moves blocks from members to other members.", "",
      "A block is removed when another member has said that it has it.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster move --pattern ^00 --to 10.0.0.6:7733 10.0.0.5:7733", ""})
final class MoveCommand extends SendTask {
  MoveCommand(Console console) {
    super(console, TaskOrder.Kind.MOVE);
  }
}
