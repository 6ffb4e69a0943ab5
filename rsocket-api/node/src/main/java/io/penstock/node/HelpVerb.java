package io.penstock.node;

import io.penstock.node.option.LayoutPage;
import io.penstock.node.option.TopicPages;
import io.penstock.node.serve.AscendPage;
import io.penstock.node.serve.ServeCommand;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/// `penstock help COMMAND…`: shows the help of that command, at any depth.
@Command(
    name = "help",
    description = {"Shows the help of a command, or lists all commands.", "",
      "Instead of a command, '" + AscendPage.NAME + "' shows the settings of Ascend devices, and '" + LayoutPage.NAME
          + "' the options that state the layout of a model. After 'serve', a topic of its settings or one of them may"
          + " follow, or '" + TopicPages.ALL + "'.",
      ""},
    mixinStandardHelpOptions = true,
    helpCommand = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock help replay", "  penstock help ssd verify", "  penstock help serve disk",
      "  penstock help ascend", ""})
final class HelpVerb implements Runnable {
  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "The command whose help is shown.")
  private List<String> words = List.of();

  @Override
  public void run() {
    CommandLine page = page();
    if (page != null) {
      page.setColorScheme(spec.commandLine().getColorScheme()).setUsageHelpLongOptionsMaxWidth(26)
          .usage(spec.commandLine().getOut());
      return;
    }
    CommandLine command = spec.root().commandLine();
    for (int i = 0; i < words.size(); i++) {
      CommandLine next = command.getSubcommands().get(words.get(i));
      if (next == null && LabVerb.isOne(command)) {
        break; // it has no commands here; its own page says where they are
      } else if (next == null) {
        throw new UnmatchedArgumentException(command, words.subList(i, words.size()));
      }
      command = next;
    }
    command.usage(command.getOut());
  }

  /// A page that is not the help of a command; null if the words name none.
  private @Nullable CommandLine page() {
    return switch (String.join(" ", words)) {
      case AscendPage.NAME -> AscendPage.line();
      case LayoutPage.NAME -> LayoutPage.line();
      default -> words.size() == 2 && words.getFirst().equals("serve")
          ? ServeCommand.PAGES.line(words.getLast())
          : null;
    };
  }
}
