package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.wire.cluster.TaskOrder;
import picocli.CommandLine.Command;

/// Copies blocks from members to other members.
@Command(
    name = "copy",
    description = {"Copies blocks from members to other members.", "",
      "A block that another member has is not sent.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster copy --pattern ^00 --to 10.0.0.6:7733 10.0.0.5:7733", ""})
final class CopyCommand extends SendTask {
  CopyCommand(Console console) {
    super(console, TaskOrder.Kind.COPY);
  }
}
