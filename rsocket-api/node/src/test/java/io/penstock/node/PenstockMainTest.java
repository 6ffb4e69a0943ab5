package io.penstock.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

final class PenstockMainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void version_isTheRevisionOfTheBuild() {
    assertThat(run("--version")).isZero();
    assertThat(out.toString().strip()).isEqualTo("penstock " + System.getProperty("penstock.revision"));
  }

  @Test
  void help_showsAnExampleOnStandardOutput() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("Usage: penstock", "Example:");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void noCommand_isMisuseAndSaysSoOnStandardError() {
    assertThat(run()).isEqualTo(2);
    assertThat(err.toString()).contains("a command must be given");
    assertThat(out.toString()).isEmpty();
  }

  private int run(String... args) {
    CommandLine line = PenstockMain.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(args);
  }
}
