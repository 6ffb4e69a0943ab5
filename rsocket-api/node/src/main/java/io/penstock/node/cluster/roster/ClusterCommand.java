package io.penstock.node.cluster.roster;

import io.penstock.node.cli.CommandGroup;
import picocli.CommandLine.Command;

/// `penstock cluster`: looks at a cluster, and has its members do tasks.
@Command(
    name = "cluster",
    description = {"Looks at a cluster, and moves blocks between its members.", ""},
    mixinStandardHelpOptions = true,
    subcommands = {StatCommand.class, DoctorCommand.class, DrainCommand.class, ResumeCommand.class,
      RebalanceCommand.class, CopyCommand.class, MoveCommand.class, RemoveCommand.class, TasksCommand.class,
      CancelCommand.class},
    footerHeading = "%nExamples:%n",
    footer = {"  penstock cluster stat 127.0.0.1:7733", "  penstock cluster doctor 127.0.0.1:7733", ""})
public final class ClusterCommand extends CommandGroup {}
