package io.penstock.node;

import static java.util.Objects.requireNonNullElse;

import io.penstock.PenstockVersion;
import io.penstock.node.cli.CommandFactory;
import io.penstock.node.cli.CommandGroup;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Failures;
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
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.IVersionProvider;

/// The command line: answers `--version` and `--help`, lists its commands when none is given, and runs the one that is.
/// Results go to standard output, everything else to standard error.
@Command(
    name = "penstock",
    description = "Moves LLM KV-cache blocks only as fast as their consumer asks for them.",
    mixinStandardHelpOptions = true,
    versionProvider = PenstockMain.Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    footerHeading = "%nExamples:%n",
    footer = {"  penstock serve --dram 2GiB", "  penstock help put", "",
      "attack, simulate, torture, bench and gateway are commands of the source tree,",
      "whose launcher also runs its examples:", "  ./penstock example", ""})
public final class PenstockMain extends CommandGroup {
  /// The commands after those that talk to a node, in the order of the help.
  private static final List<Class<?>> OTHERS =
      List.of(PasswordCommand.class, ModelsCommand.class, ReplayCommand.class, RecordingCommand.class,
          ClusterCommand.class, PartyCommand.class, TraceCommand.class, SweepCommand.class, WhatIfCommand.class,
          PlanCommand.class,
          SsdCommand.class,
          TrainCommand.class, DeviceCommand.class);

  private PenstockMain() {}

  /// Runs one command line and ends the process with its exit code.
  ///
  /// @param args the command line, without the program's name
  public static void main(String[] args) {
    System.exit(commandLine(Console.ofProcess()).execute(args));
  }

  /// Returns the whole command line, ready to execute.
  public static CommandLine commandLine(Console console) {
    return commandLine(console, List.of());
  }

  /// Returns the whole command line of a program that has more commands than a node.
  ///
  /// @param others take the place of the commands that have their names
  public static CommandLine commandLine(Console console, List<CommandLine> others) {
    CommandFactory factory = new CommandFactory(console);
    CommandLine line = new CommandLine(new PenstockMain(), factory);
    Map<String, CommandLine> byName =
        new HashMap<>(others.stream().collect(Collectors.toMap(CommandLine::getCommandName, Function.identity())));
    Stream.of(
        Stream.of(ServeCommand.line(console)),
        ClientCommands.lines(console).stream(),
        OTHERS.stream().map(command -> new CommandLine(command, factory)),
        Stream.of(LabVerb.values()).map(LabVerb::line),
        Stream.of(new CommandLine(HelpVerb.class, factory)))
        .flatMap(Function.identity())
        .forEach(own -> line.addSubcommand(requireNonNullElse(byName.remove(own.getCommandName()), own)));
    if (!byName.isEmpty()) {
      throw new IllegalStateException(
          "each command of another program must take the place of one of a node (did not: " + byName.keySet() + ")");
    }
    Failures failures = new Failures(console);
    line.setOut(new PrintWriter(console.out(), true, StandardCharsets.UTF_8));
    line.setErr(new PrintWriter(console.err(), true, StandardCharsets.UTF_8));
    line.setParameterExceptionHandler(failures).setExecutionExceptionHandler(failures).setExecutionStrategy(failures);
    line.setColorScheme(Help.defaultColorScheme(console.isTerminal() ? Help.Ansi.AUTO : Help.Ansi.OFF));
    line.getCommandSpec().usageMessage().exitCodeList(ExitCode.meanings());
    versioned(line);
    line.setUsageHelpLongOptionsMaxWidth(26).setUsageHelpWidth(80).setCaseInsensitiveEnumValuesAllowed(true);
    return line;
  }

  /// Gives every command that has `--version` one answer.
  private static void versioned(CommandLine line) {
    line.getCommandSpec().versionProvider(new Version());
    line.getSubcommands().values().forEach(PenstockMain::versioned);
  }

  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"penstock " + PenstockVersion.current()};
    }
  }
}
