package io.penstock.node.bench;

import io.penstock.node.cli.CommandGroup;
import io.penstock.node.replay.ReplayBenchCommand;
import picocli.CommandLine.Command;

/// `penstock bench`: measures a part of Penstock on this machine.
@Command(
    name = "bench",
    description = {"Measures a part of Penstock on this machine.", ""},
    mixinStandardHelpOptions = true,
    subcommands = {WireCommand.class, TransferCommand.class, LatencyCommand.class, ReplayBenchCommand.class,
      StartCommand.class,
      FarSideCommand.class,
      ReclaimCommand.class,
      RecoveryCommand.class},
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench wire --blocks 64KiB,1MiB", "  penstock bench reclaim --report reclaim.html", ""})
public final class BenchCommand extends CommandGroup {}
