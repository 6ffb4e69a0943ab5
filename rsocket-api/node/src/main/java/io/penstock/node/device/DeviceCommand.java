package io.penstock.node.device;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `penstock device`: looks at accelerators.
@Command(
    name = "device",
    description = {"Looks at the accelerators of this machine, and tries copies to and from them.", ""},
    mixinStandardHelpOptions = true,
    subcommands = {ProbeCommand.class, CopyCommand.class},
    footerHeading = "%nExample:%n",
    footer = {"  penstock device probe", ""})
public final class DeviceCommand implements Runnable {
  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(),
        "a command must be given (" + String.join(", ", spec.subcommands().keySet()) + ")");
  }
}
