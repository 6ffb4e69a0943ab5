package io.penstock.lab.torture;

import io.penstock.node.cli.CommandGroup;
import picocli.CommandLine.Command;

/// `penstock torture`: proofs that need violence.
@Command(
    name = "torture",
    description = {"Ends processes without warning, and looks for what they were promised.", ""},
    mixinStandardHelpOptions = true,
    subcommands = TortureSsdCommand.class,
    footerHeading = "%nExample:%n",
    footer = {"  penstock torture ssd --kills 30 --dir /tmp/torture", ""})
public final class TortureCommand extends CommandGroup {}
