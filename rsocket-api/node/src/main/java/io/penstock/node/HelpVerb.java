package io.penstock.node;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/// `penstock help COMMAND…`: what `--help` of that command says, however deep it lies.
@Command(
    name = "help",
    description = {"Shows the help of a command, or of all.", ""},
    mixinStandardHelpOptions = true,
    helpCommand = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock help replay", "  penstock help ssd verify", ""})
final class HelpVerb implements Runnable {
  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "The command, as it is called.")
  private List<String> words = List.of();

  @Override
  public void run() {
    CommandLine command = spec.root().commandLine();
    for (int i = 0; i < words.size(); i++) {
      CommandLine next = command.getSubcommands().get(words.get(i));
      if (next == null) {
        throw new UnmatchedArgumentException(command, words.subList(i, words.size()));
      }
      command = next;
    }
    command.usage(command.getOut());
  }
}
