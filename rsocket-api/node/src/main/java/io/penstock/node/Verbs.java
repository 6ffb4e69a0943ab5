package io.penstock.node;

import io.penstock.node.cli.CommandFactory;
import io.penstock.node.cli.Console;
import io.penstock.node.client.ClientCommands;
import io.penstock.node.client.PasswordCommand;
import io.penstock.node.cluster.roster.ClusterCommand;
import io.penstock.node.device.DeviceCommand;
import io.penstock.node.party.PartyCommand;
import io.penstock.node.plan.PlanCommand;
import io.penstock.node.recording.RecordingCommand;
import io.penstock.node.replay.ReplayCommand;
import io.penstock.node.serve.ServeCommand;
import io.penstock.node.ssd.SsdCommand;
import io.penstock.node.sweep.SweepCommand;
import io.penstock.node.trace.TraceCommand;
import io.penstock.node.whatif.WhatIfCommand;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;

/// The commands of a node, each made by its name: to make them all takes a second of CPU time in a JVM that just began,
/// and a process runs one.
///
/// The JVM keeps no lambda that names a class of the command line's library in its AOT cache, so there is none here.
final class Verbs {
  private static final List<String> OTHERS = List.of("password", "models", "replay", "recording", "cluster",
      "replay-party", "trace", "sweep", "whatif", "plan", "ssd", "train", "device");
  private static final String SERVE = "serve";
  private static final String HELP = "help";

  /// In the order of the help.
  static final List<String> NAMES = Stream.of(Stream.of(SERVE), ClientCommands.NAMES.stream(), OTHERS.stream(),
      Arrays.stream(LabVerb.values()).map(LabVerb::word), Stream.of(HELP)).flatMap(names -> names).toList();

  private Verbs() {}

  /// The commands that must be there for `arguments`: the one that they name, or all where they name none, or where
  /// they ask for help.
  static List<String> needed(String... arguments) {
    if (arguments.length == 1 && (arguments[0].equals("--version") || arguments[0].equals("-V"))) {
      return List.of();
    }
    return arguments.length > 0 && NAMES.contains(arguments[0]) && !arguments[0].equals(HELP)
        ? List.of(arguments[0])
        : NAMES;
  }

  /// @param name one of [#NAMES]
  static CommandLine line(String name, Console console) {
    if (ClientCommands.NAMES.contains(name)) {
      return ClientCommands.line(name, console);
    }
    return switch (name) {
      case SERVE -> ServeCommand.line(console);
      case "password" -> line(PasswordCommand.class, console);
      case "models" -> line(ModelsCommand.class, console);
      case "replay" -> line(ReplayCommand.class, console);
      case "recording" -> line(RecordingCommand.class, console);
      case "cluster" -> line(ClusterCommand.class, console);
      case "replay-party" -> line(PartyCommand.class, console);
      case "trace" -> line(TraceCommand.class, console);
      case "sweep" -> line(SweepCommand.class, console);
      case "whatif" -> line(WhatIfCommand.class, console);
      case "plan" -> line(PlanCommand.class, console);
      case "ssd" -> line(SsdCommand.class, console);
      case "train" -> line(TrainCommand.class, console);
      case "device" -> line(DeviceCommand.class, console);
      case HELP -> line(HelpVerb.class, console);
      default -> LabVerb.of(name).line();
    };
  }

  private static CommandLine line(Class<?> command, Console console) {
    return new CommandLine(command, new CommandFactory(console));
  }
}
