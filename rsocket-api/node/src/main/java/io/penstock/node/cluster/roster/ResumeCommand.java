package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.wire.cluster.TaskOrder;
import picocli.CommandLine.Command;

/// Has a member that was drained take new blocks again.
@Command(
    name = "resume",
    description = {"Has a member that was drained take new blocks again.", "",
      "A drain that runs is cancelled. Blocks that it gave away stay where they are.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster resume 10.0.0.5:7733 10.0.0.6:7733", ""})
final class ResumeCommand extends NamedTask {
  ResumeCommand(Console console) {
    super(console, TaskOrder.Kind.RESUME);
  }
}
