package io.penstock.node.cluster.roster;

import io.penstock.node.cli.CommandGroup;
import picocli.CommandLine.Command;

/// `penstock cluster`: looks at the cluster of a node.
@Command(
    name = "cluster",
    description = {"Looks at the cluster that a node is a member of.", ""},
    mixinStandardHelpOptions = true,
    subcommands = ClusterStatCommand.class,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster stat 127.0.0.1:7733", ""})
public final class ClusterCommand extends CommandGroup {}
