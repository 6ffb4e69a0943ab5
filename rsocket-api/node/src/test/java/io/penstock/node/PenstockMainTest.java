package io.penstock.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.cli.Console;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

final class PenstockMainTest {
  @Test
  void version_isTheRevisionOfTheBuild() {
    CommandLineRun run = CommandLineRun.of("--version");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out().strip()).isEqualTo("penstock " + System.getProperty("penstock.revision"));
  }

  @Test
  void help_showsCommandsExitCodesAndAnExampleOnStandardOutput() {
    CommandLineRun run = CommandLineRun.of("--help");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("Usage: penstock", "serve", "Example:", "Exit codes:", "69");
    assertThat(run.err()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("everyCommand")
  void help_ofEveryCommand_hasAnExampleAndNoControlCharacters(String path) {
    CommandLineRun run = CommandLineRun.of((path + " --help").split(" "));

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("Usage: penstock " + path, "Example").doesNotContain("\u001b");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void noCommand_isMisuseAndSaysSoOnStandardError() {
    CommandLineRun run = CommandLineRun.of();

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("a command must be given");
    assertThat(run.out()).isEmpty();
  }

  @Test
  void unknownOption_isMisuseAndNamesTheOption() {
    CommandLineRun run = CommandLineRun.of("serve", "--dramm", "1GiB");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("Unknown option", "'--dramm'", "penstock serve --help");
    assertThat(run.out()).isEmpty();
  }

  static Stream<String> everyCommand() {
    Console silent = new Console(InputStream.nullInputStream(), new PrintStream(OutputStream.nullOutputStream()),
        new PrintStream(OutputStream.nullOutputStream()), false, Map.of());
    return below("", PenstockMain.commandLine(silent));
  }

  private static Stream<String> below(String path, CommandLine line) {
    return line.getSubcommands().entrySet().stream().filter(entry -> !entry.getValue().getCommandSpec().usageMessage().hidden()).flatMap(entry -> {
      String name = (path + " " + entry.getKey()).strip();
      return Stream.concat(Stream.of(name), below(name, entry.getValue()));
    });
  }
}
