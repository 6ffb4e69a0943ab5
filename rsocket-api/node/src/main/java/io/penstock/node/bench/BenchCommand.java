package io.penstock.node.bench;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `penstock bench`: measures a part of Penstock on this machine.
@Command(
    name = "bench",
    description = {"Measures a part of Penstock on this machine.", ""},
    mixinStandardHelpOptions = true,
    subcommands = {ReclaimCommand.class, RecoveryCommand.class},
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench reclaim --html reclaim.html", ""})
public final class BenchCommand implements Runnable {
  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(),
        "a command must be given (" + String.join(", ", spec.subcommands().keySet()) + ")");
  }
}
