package io.penstock.node.device;

import io.penstock.node.cli.CommandGroup;
import picocli.CommandLine.Command;

/// `penstock device`: looks at accelerators.
@Command(
    name = "device",
    description = {"Looks at the accelerators of this machine, and tries copies to and from them.", ""},
    mixinStandardHelpOptions = true,
    subcommands = {ProbeCommand.class, CopyCommand.class},
    footerHeading = "%nExample:%n",
    footer = {"  penstock device probe", ""})
public final class DeviceCommand extends CommandGroup {}
