package io.penstock.node.ssd;

import io.penstock.node.cli.CommandGroup;
import picocli.CommandLine.Command;

/// `penstock ssd`: looks after the folder of a disk level.
@Command(
    name = "ssd",
    description = {"Looks after the folder of a disk level while no node uses it.", ""},
    mixinStandardHelpOptions = true,
    subcommands = VerifyCommand.class,
    footerHeading = "%nExample:%n",
    footer = {"  penstock ssd verify /var/lib/penstock", ""})
public final class SsdCommand extends CommandGroup {}
