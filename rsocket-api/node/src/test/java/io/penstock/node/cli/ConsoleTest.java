package io.penstock.node.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.node.report.Escape;
import io.penstock.node.text.Json;
import io.penstock.node.text.TextTable;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ConsoleTest {
  private record Fact(String name, long bytes) {}

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void results_goToOutAndTheRestToErr_withLineFeeds() {
    Console console = console(out);

    console.print("result");
    console.json(List.of(new Fact("größe", 7)));
    console.say("aside");

    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("result\n[{\"name\":\"größe\",\"bytes\":7}]\n");
    assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo("aside\n");
  }

  @Test
  void textOfStrangers_isShownInCharactersThatMoveNoCursor() {
    Console console = console(out);
    String odd = "\u001b[2J\u009b\u202e\u2028\u007f\tü🚀";

    console.print(odd + "\nnext");
    console.json(List.of(new Fact(odd, 1)));
    console.say(odd);

    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("""
        \\x1b[2J\\x9b\\u202e\\u2028\\x7f\tü🚀
        next
        [{"name":"\\u001B[2J\\u009B\\u202E\\u2028\\u007F\\tü🚀","bytes":1}]
        """);
    assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo("\\x1b[2J\\x9b\\u202e\\u2028\\x7f\tü🚀\n");
    assertThat(new TextTable("HOST").row("\u001b]0;owned\u0007\nnext"))
        .hasToString("HOST\n\\x1b]0;owned\\x07\\x0anext\n");
    assertThat(Escape.html("<\u202e>\n")).isEqualTo("&lt;\\u202e&gt;\n");
  }

  @Test
  void readerThatWentAway_endsTheCommand() {
    Console console = console(new OutputStream() {
      @Override
      public void write(int one) throws IOException {
        throw new IOException("Broken pipe");
      }
    });

    assertThatThrownBy(() -> console.print("line")).isInstanceOf(UncheckedIOException.class)
        .hasMessage("standard output must accept the results (was closed by its reader, or full)");
  }

  @Test
  void valueWithoutJson_isRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> Json.of(new Object()))
        .withMessage("value must have a JSON form (was java.lang.Object)");
  }

  @Test
  void longMessage_isBrokenOnATerminalAlone() {
    String message = "word ".repeat(20) + "end";
    Console file = console(OutputStream.nullOutputStream());
    Console terminal = new Console(file.in(), file.out(), file.err(), true, Map.of());

    file.say(message);
    terminal.say(message);

    assertThat(err.toString(StandardCharsets.UTF_8).lines()).containsExactly(message, "word ".repeat(16).strip(),
        "  " + "word ".repeat(4) + "end");
  }

  private Console console(OutputStream to) {
    return new Console(InputStream.nullInputStream(), new PrintStream(to, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8), false, Map.of());
  }
}
