package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.wire.cluster.TaskOrder;
import picocli.CommandLine.Command;

/// Has a member give all its blocks to others, and take no new ones.
@Command(
    name = "drain",
    description = {"Has a member give all its blocks to others, and take no new ones.", "",
      "The member serves meanwhile, and stays draining: end it then, or let it take blocks again with 'penstock cluster"
          + " resume'. Ends with 1 if blocks are left. Cancelled, the member takes new blocks again.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster drain 10.0.0.5:7733 10.0.0.6:7733", ""})
final class DrainCommand extends NamedTask {
  DrainCommand(Console console) {
    super(console, TaskOrder.Kind.DRAIN);
  }
}
