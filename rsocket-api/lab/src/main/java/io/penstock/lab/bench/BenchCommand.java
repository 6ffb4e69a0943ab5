package io.penstock.lab.bench;

import io.penstock.lab.bench.cluster.ClusterBenchCommand;
import io.penstock.lab.bench.disk.ReclaimCommand;
import io.penstock.lab.bench.disk.RecoveryCommand;
import io.penstock.lab.bench.doors.DoorsBenchCommand;
import io.penstock.lab.bench.gateway.GatewayBenchCommand;
import io.penstock.lab.bench.gateway.OverloadCommand;
import io.penstock.lab.bench.growth.GrowthCommand;
import io.penstock.lab.bench.recording.RecordingCommand;
import io.penstock.lab.bench.replay.ReplayBenchCommand;
import io.penstock.lab.bench.session.SessionBenchCommand;
import io.penstock.lab.bench.side.FarSideCommand;
import io.penstock.lab.bench.wire.LatencyCommand;
import io.penstock.lab.bench.wire.StartCommand;
import io.penstock.lab.bench.wire.TransferCommand;
import io.penstock.lab.bench.wire.WireCommand;
import io.penstock.node.cli.CommandGroup;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IFactory;

/// `penstock bench`: measures a part of Penstock on this machine.
@Command(
    name = "bench",
    description = {"Measures a part of Penstock on this machine.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench wire --blocks 64KiB,1MiB", "  penstock bench reclaim --report reclaim.html", ""})
public final class BenchCommand extends CommandGroup {
  private static final String NAME = "bench";
  private static final List<String> NAMES = List.of("wire", "transfer", "latency", "growth", "replay", "start",
      "far-side", "reclaim", "recovery", "recording", "sessions", "gateway", "overload", "cluster", "doors");

  /// The command, with the benches that `arguments` need: the one that they name, or all.
  ///
  /// @param arguments of the program: with the name of this command, or of none
  public static CommandLine line(IFactory factory, String... arguments) {
    CommandLine line = new CommandLine(new BenchCommand(), factory);
    boolean isNamed = arguments.length > 1 && arguments[0].equals(NAME) && NAMES.contains(arguments[1]);
    for (String name : isNamed ? List.of(arguments[1]) : NAMES) {
      line.addSubcommand(name, new CommandLine(bench(name), factory));
    }
    return line;
  }

  private static Class<?> bench(String name) {
    return switch (name) {
      case "wire" -> WireCommand.class;
      case "transfer" -> TransferCommand.class;
      case "latency" -> LatencyCommand.class;
      case "growth" -> GrowthCommand.class;
      case "replay" -> ReplayBenchCommand.class;
      case "start" -> StartCommand.class;
      case "far-side" -> FarSideCommand.class;
      case "reclaim" -> ReclaimCommand.class;
      case "recovery" -> RecoveryCommand.class;
      case "recording" -> RecordingCommand.class;
      case "sessions" -> SessionBenchCommand.class;
      case "gateway" -> GatewayBenchCommand.class;
      case "overload" -> OverloadCommand.class;
      case "cluster" -> ClusterBenchCommand.class;
      case "doors" -> DoorsBenchCommand.class;
      default -> throw new IllegalArgumentException("name must be one of " + NAMES + " (was " + name + ")");
    };
  }
}
