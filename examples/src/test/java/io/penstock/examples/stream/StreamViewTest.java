package io.penstock.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.cli.Console;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class StreamViewTest {
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void terminal_isDrawnOverInPlace() {
    look(true);

    assertThat(told()).contains("limit", "█", "\u001b[8A").containsOnlyOnce("  0.0 s");
    assertThat(told().split("\u001b\\[8A", -1)).hasSize(3);
  }

  @Test
  void noTerminal_getsALineASecondAndNoEscapes() {
    look(false);

    assertThat(told()).doesNotContain("\u001b");
    assertThat(told().lines()).hasSize(2);
  }

  private void look(boolean terminal) {
    Console console = new Console(InputStream.nullInputStream(), new PrintStream(OutputStream.nullOutputStream()),
        new PrintStream(err, true, StandardCharsets.UTF_8), terminal, Map.of());
    StreamView view = new StreamView(console, 1000);
    for (double seconds : new double[] {0, 0.5, 1.1}) {
      view.accept(new Sample(seconds, 1000, 0, 0, 0, 0, 0, 0, 0));
    }
  }

  private String told() {
    return err.toString(StandardCharsets.UTF_8);
  }
}
