package io.penstock.node;

import io.penstock.PenstockVersion;
import io.penstock.node.bench.BenchCommand;
import io.penstock.node.cli.CommandFactory;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Failures;
import io.penstock.node.client.ClientCommands;
import io.penstock.node.device.DeviceCommand;
import io.penstock.node.replay.PartyCommand;
import io.penstock.node.replay.ReplayCommand;
import io.penstock.node.serve.ServeCommand;
import io.penstock.node.simulate.SimulateCommand;
import io.penstock.node.ssd.SsdCommand;
import io.penstock.node.torture.TortureCommand;
import io.penstock.node.trace.TraceCommand;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The front door of the command line: answers `--version` and `--help`, and hands each verb to its command.
/// Results go to standard output, everything else to standard error.
@Command(
    name = "penstock",
    description = "Moves LLM KV-cache blocks only as fast as their consumer asks for them.",
    mixinStandardHelpOptions = true,
    versionProvider = PenstockMain.Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    footerHeading = "%nExamples:%n",
    footer = {"  penstock serve --dram 2GiB", "  penstock help put", "",
      "The examples of the source tree are run by its launcher: './penstock example' lists them.", ""})
public final class PenstockMain implements Runnable {
  @Spec
  private CommandSpec spec;

  private PenstockMain(CommandSpec spec) {
    this.spec = spec;
  }

  /// Runs one command line and ends the process with its exit code.
  ///
  /// @param args the command line, without the program's name
  public static void main(String[] args) {
    System.exit(commandLine(Console.ofProcess()).execute(args));
  }

  /// Returns the whole command line, ready to execute.
  static CommandLine commandLine(Console console) {
    CommandLine line = new CommandLine(new PenstockMain(CommandSpec.create()), new CommandFactory(console));
    line.addSubcommand(ServeCommand.line(console));
    ClientCommands.lines(console).forEach(line::addSubcommand);
    line.addSubcommand(ReplayCommand.class);
    line.addSubcommand(PartyCommand.class);
    line.addSubcommand(TraceCommand.class);
    line.addSubcommand(SimulateCommand.class);
    line.addSubcommand(SsdCommand.class);
    line.addSubcommand(TortureCommand.class);
    line.addSubcommand(BenchCommand.class);
    line.addSubcommand(DeviceCommand.class);
    line.addSubcommand(HelpVerb.class);
    Failures failures = new Failures(console);
    line.setOut(new PrintWriter(console.out(), true, StandardCharsets.UTF_8));
    line.setErr(new PrintWriter(console.err(), true, StandardCharsets.UTF_8));
    line.setParameterExceptionHandler(failures).setExecutionExceptionHandler(failures).setExecutionStrategy(failures);
    line.setColorScheme(Help.defaultColorScheme(console.isTerminal() ? Help.Ansi.AUTO : Help.Ansi.OFF));
    line.getCommandSpec().usageMessage().exitCodeList(ExitCode.meanings());
    versioned(line);
    line.setUsageHelpLongOptionsMaxWidth(26).setUsageHelpWidth(120).setCaseInsensitiveEnumValuesAllowed(true);
    return line;
  }

  /// Whatever has `--version` answers it, and all say the same.
  private static void versioned(CommandLine line) {
    line.getCommandSpec().versionProvider(new Version());
    line.getSubcommands().values().forEach(PenstockMain::versioned);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command must be given");
  }

  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"penstock " + PenstockVersion.current()};
    }
  }
}
