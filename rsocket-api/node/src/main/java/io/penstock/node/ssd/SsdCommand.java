package io.penstock.node.ssd;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `penstock ssd`: looks after the folder of a disk level.
@Command(
    name = "ssd",
    description = {"Looks after the folder of a disk level while no node uses it.", ""},
    mixinStandardHelpOptions = true,
    subcommands = VerifyCommand.class,
    footerHeading = "%nExample:%n",
    footer = {"  penstock ssd verify /var/lib/penstock", ""})
public final class SsdCommand implements Runnable {
  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(),
        "a command must be given (" + String.join(", ", spec.subcommands().keySet()) + ")");
  }
}
