package io.penstock.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.cli.Console;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

final class VerbsTest {
  @Test
  void eachCommand_isMadeByTheNameThatItHas() {
    Console console = Console.ofProcess();
    for (String name : Verbs.NAMES) {
      assertThat(Verbs.line(name, console).getCommandName()).isEqualTo(name);
    }
    assertThat(PenstockMain.commandLine(console).getSubcommands().keySet()).containsExactlyElementsOf(Verbs.NAMES);
  }

  @Test
  void aLineThatNamesACommand_needsThatOne() {
    assertThat(Verbs.needed("replay", "--limit", "1")).containsExactly("replay");
    assertThat(Verbs.needed("bench", "help")).containsExactly("bench");
    assertThat(Verbs.needed("--version")).isEmpty();
  }

  @Test
  void aLineThatNamesNoneOrAsksForHelp_needsAll() {
    for (List<String> line : List.of(List.<String>of(), List.of("--help"), List.of("help", "replay"), List.of("reply"),
        List.of("@arguments"), List.of("--version", "replay"))) {
      assertThat(Verbs.needed(line.toArray(String[]::new))).as("%s", line).isEqualTo(Verbs.NAMES);
    }
  }

  @Test
  void aLineWithOneCommand_saysWhatAWholeOneSays() {
    for (String[] arguments : List.of(new String[] {"stat", "--help"}, new String[] {"put", "--nonsense"},
        new String[] {"cluster"}, new String[] {"trace", "generate", "--help"}, new String[] {"--version"})) {
      CommandLineRun whole = CommandLineRun.of(arguments);
      CommandLineRun narrow = CommandLineRun.of(console -> narrow(console, arguments), Map.of(),
          new byte[0], arguments);
      assertThat(narrow.exitCode()).isEqualTo(whole.exitCode());
      assertThat(narrow.out()).isEqualTo(whole.out());
      assertThat(narrow.err()).isEqualTo(whole.err());
    }
  }

  private static CommandLine narrow(Console console, String... arguments) {
    return PenstockMain.commandLine(console, List.of(), arguments);
  }
}
