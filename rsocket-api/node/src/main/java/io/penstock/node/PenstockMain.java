package io.penstock.node;

import io.penstock.PenstockVersion;
import io.penstock.node.cli.CommandFactory;
import io.penstock.node.cli.CommandGroup;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Failures;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
  private PenstockMain() {}

  /// Runs one command line and ends the process with its exit code.
  ///
  /// @param args the command line, without the program's name
  public static void main(String[] args) {
    System.exit(commandLine(Console.ofProcess(), List.of(), args).execute(args));
  }

  /// Returns the whole command line, ready to execute.
  public static CommandLine commandLine(Console console) {
    return commandLine(console, List.of());
  }

  /// Returns the whole command line of a program that has more commands than a node.
  ///
  /// @param others take the place of the commands that have their names
  public static CommandLine commandLine(Console console, List<CommandLine> others) {
    return commandLine(console, others, new String[0]);
  }

  /// Returns a command line that is ready to execute `arguments`, and has at least the commands that these need.
  ///
  /// @param others take the place of the commands that have their names; those that are not needed may be left out
  public static CommandLine commandLine(Console console, List<CommandLine> others, String... arguments) {
    CommandLine line = new CommandLine(new PenstockMain(), new CommandFactory(console));
    Map<String, CommandLine> byName = new HashMap<>();
    for (CommandLine other : others) {
      byName.put(other.getCommandName(), other);
    }
    for (String name : needed(arguments)) {
      CommandLine other = byName.remove(name);
      line.addSubcommand(name, other == null ? Verbs.line(name, console) : other);
    }
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

  /// Names of the commands that must be there for `arguments`, in the order of the help.
  public static List<String> needed(String... arguments) {
    return Verbs.needed(arguments);
  }

  /// Gives every command that has `--version` one answer.
  private static void versioned(CommandLine line) {
    line.getCommandSpec().versionProvider(new Version());
    for (CommandLine command : line.getSubcommands().values()) {
      versioned(command);
    }
  }

  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"penstock " + PenstockVersion.current()};
    }
  }
}
