package io.penstock.node;

import io.penstock.PenstockVersion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
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
    footerHeading = "%nExample:%n",
    footer = {"  penstock --version", "  penstock example", ""})
public final class PenstockMain implements Runnable {
  @Spec private CommandSpec spec;

  private PenstockMain(CommandSpec spec) {
    this.spec = spec;
  }

  /// Runs one command line and ends the process with its exit code: 0 done, 1 failed, 2 misused.
  ///
  /// @param args the command line, without the program's name
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  /// Returns the whole command line, ready to execute.
  static CommandLine commandLine() {
    return new CommandLine(new PenstockMain(CommandSpec.create()));
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
