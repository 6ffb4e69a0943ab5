package io.penstock.node;

import io.penstock.node.serve.AscendPage;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/// `penstock help COMMAND…`: the same as `--help` of that command, at any depth.
@Command(
    name = "help",
    description = {"Shows the help of a command, or lists all commands.", "",
      "'" + AscendPage.NAME + "' instead of a command shows the settings of Ascend devices.", ""},
    mixinStandardHelpOptions = true,
    helpCommand = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock help replay", "  penstock help ssd verify", "  penstock help ascend", ""})
final class HelpVerb implements Runnable {
  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "The command whose help is shown.")
  private List<String> words = List.of();

  @Override
  public void run() {
    if (words.equals(List.of(AscendPage.NAME))) {
      AscendPage.line().setColorScheme(spec.commandLine().getColorScheme()).setUsageHelpLongOptionsMaxWidth(26)
          .usage(spec.commandLine().getOut());
      return;
    }
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
