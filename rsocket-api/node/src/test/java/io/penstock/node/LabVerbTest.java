package io.penstock.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

final class LabVerbTest {
  @ParameterizedTest
  @EnumSource
  void verbOfTheLab_saysWhereItIs_whateverItsArguments(LabVerb verb) {
    CommandLineRun run = CommandLineRun.of(verb.word(), "wire", "--rounds", "3");

    assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(run.err()).contains("must be run in the source tree, as ./penstock " + verb.word() + " wire --rounds 3");
  }

  @Test
  void helpOfAVerb_saysWhereItIs_andSoDoesHelpOfItsCommands() {
    assertThat(CommandLineRun.of("help", "bench").out()).contains("Run it in the source tree: ./penstock bench.");
    assertThat(CommandLineRun.of("help", "bench", "wire").out())
        .contains("Run it in the source tree: ./penstock bench.");
  }

  @Test
  void commandThatTheNodeDoesNotList_isNoSilentLoss() {
    CommandLine unknown = new CommandLine(CommandLine.Model.CommandSpec.create().name("measure"));

    assertThatThrownBy(() -> PenstockMain.commandLine(Console.ofProcess(), List.of(unknown)))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("measure");
  }
}
