package io.penstock.lab.bench;

import io.penstock.lab.bench.cluster.ClusterBenchCommand;
import io.penstock.lab.bench.disk.ReclaimCommand;
import io.penstock.lab.bench.disk.RecoveryCommand;
import io.penstock.lab.bench.doors.DoorsBenchCommand;
import io.penstock.lab.bench.gateway.GatewayBenchCommand;
import io.penstock.lab.bench.gateway.OverloadCommand;
import io.penstock.lab.bench.recording.RecordingCommand;
import io.penstock.lab.bench.replay.ReplayBenchCommand;
import io.penstock.lab.bench.session.SessionBenchCommand;
import io.penstock.lab.bench.side.FarSideCommand;
import io.penstock.lab.bench.wire.LatencyCommand;
import io.penstock.lab.bench.wire.StartCommand;
import io.penstock.lab.bench.wire.TransferCommand;
import io.penstock.lab.bench.wire.WireCommand;
import io.penstock.node.cli.CommandGroup;
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
      RecoveryCommand.class,
      RecordingCommand.class,
      SessionBenchCommand.class,
      GatewayBenchCommand.class,
      OverloadCommand.class,
      ClusterBenchCommand.class,
      DoorsBenchCommand.class},
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench wire --blocks 64KiB,1MiB", "  penstock bench reclaim --report reclaim.html", ""})
public final class BenchCommand extends CommandGroup {}
