package io.penstock.examples.jlama;

import io.penstock.node.cli.CommandFactory;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Failures;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/// The program of this module.
@Command(name = "jlama", mixinStandardHelpOptions = true, synopsisSubcommandLabel = "COMMAND",
    description = {"Jlama, an inference engine in Java, whose KV cache lives in a node of Penstock.", ""},
    subcommands = {ModelCommand.class, ServeCommand.class, SpaceCommand.class, TurnsCommand.class})
public final class JlamaMain {
  private JlamaMain() {}

  /// Runs a command, and ends the process with its exit code.
  ///
  /// @param args a command and its arguments
  public static void main(String[] args) {
    System.exit(run(args, Console.ofProcess()));
  }

  static int run(String[] args, Console console) {
    Failures failures = new Failures(console);
    return new CommandLine(new JlamaMain(), new CommandFactory(console))
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setOut(new PrintWriter(console.out(), true, StandardCharsets.UTF_8))
        .setErr(new PrintWriter(console.err(), true, StandardCharsets.UTF_8))
        .setExecutionExceptionHandler(failures)
        .setExecutionStrategy(failures)
        .setParameterExceptionHandler(failures)
        .execute(args);
  }
}
