package io.penstock.node.torture;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `penstock torture`: proofs that need violence.
@Command(
    name = "torture",
    description = {"Ends processes without warning, and looks for what they were promised.", ""},
    mixinStandardHelpOptions = true,
    subcommands = TortureSsdCommand.class,
    footerHeading = "%nExample:%n",
    footer = {"  penstock torture ssd --kills 30 --dir /tmp/torture", ""})
public final class TortureCommand implements Runnable {
  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(),
        "a command must be given (" + String.join(", ", spec.subcommands().keySet()) + ")");
  }
}
