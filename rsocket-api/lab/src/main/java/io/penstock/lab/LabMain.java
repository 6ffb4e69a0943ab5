package io.penstock.lab;

import io.penstock.lab.attack.AttackCommand;
import io.penstock.lab.bench.BenchCommand;
import io.penstock.lab.plan.PlanCheckCommand;
import io.penstock.lab.simulate.SimulateCommand;
import io.penstock.lab.torture.TortureCommand;
import io.penstock.node.PenstockMain;
import io.penstock.node.cli.CommandFactory;
import io.penstock.node.cli.Console;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/// The command line of the source tree: the commands of a node, and those of the lab.
public final class LabMain {
  private static final List<String> NAMES = List.of("attack", "plan", "simulate", "torture", "bench");

  private LabMain() {}

  /// Runs one command line and ends the process with its exit code.
  ///
  /// @param args the command line, without the program's name
  public static void main(String[] args) {
    System.exit(commandLine(Console.ofProcess(), args).execute(args));
  }

  /// Returns the whole command line, ready to execute.
  static CommandLine commandLine(Console console) {
    return commandLine(console, new String[0]);
  }

  /// Returns a command line that has at least the commands that `arguments` need.
  static CommandLine commandLine(Console console, String... arguments) {
    List<CommandLine> own = new ArrayList<>();
    for (String name : PenstockMain.needed(arguments)) {
      if (NAMES.contains(name)) {
        own.add(line(name, console, arguments));
      }
    }
    return PenstockMain.commandLine(console, own, arguments);
  }

  private static CommandLine line(String name, Console console, String... arguments) {
    CommandFactory factory = new CommandFactory(console);
    return switch (name) {
      case "attack" -> AttackCommand.line(console);
      case "plan" -> new CommandLine(PlanCheckCommand.class, factory);
      case "simulate" -> new CommandLine(SimulateCommand.class, factory);
      case "torture" -> new CommandLine(TortureCommand.class, factory);
      case "bench" -> BenchCommand.line(factory, arguments);
      default -> throw new IllegalArgumentException("name must be one of " + NAMES + " (was " + name + ")");
    };
  }
}
