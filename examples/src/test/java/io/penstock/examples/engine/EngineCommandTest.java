package io.penstock.examples.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import io.penstock.node.cli.ExitCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class EngineCommandTest {
  private static final Path ADAPTER =
      Path.of(System.getProperty("basedir", ""), "src/main/java/io/penstock/examples/engine/EngineCache.java");

  @Test
  void secondSession_computesWhatIsNotLoaded_andAnswersTheSame() {
    ConsoleCapture capture = new ConsoleCapture();

    assertThat(Examples.run(new String[] {"engine"}, capture.console())).as(capture.err()).isZero();

    assertThat(capture.out())
        .isEqualTo("engine: prompt of 200 tokens, loaded 192, computed 8, 32 tokens of answer equal\n");
  }

  @Test
  void takenPort_isToldInALine() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      ConsoleCapture capture = new ConsoleCapture();
      String listen = "127.0.0.1:" + taken.getLocalPort();

      assertThat(Examples.run(new String[] {"engine", "--role", "both", "--listen", listen}, capture.console()))
          .isEqualTo(ExitCode.INPUT_OUTPUT);
      assertThat(capture.err().lines()).singleElement().asString()
          .contains("--listen must be a free port of an address of this machine (was " + listen + "): ")
          .endsWith("; port 0 takes any that is free");
    }
  }

  @Test
  void otherWeights_areAnotherSpace() {
    assertThat(EngineCache.space(new ToyEngine(7))).isEqualTo(EngineCache.space(new ToyEngine(7)))
        .isNotEqualTo(EngineCache.space(new ToyEngine(8)));
  }

  /// The README promises an adapter of 30 lines: its type, without imports.
  @Test
  void adapter_isShort() throws IOException {
    String source = Files.readString(ADAPTER);

    assertThat(source.substring(source.indexOf("/// The adapter")).lines().filter(line -> !line.isBlank()).count())
        .isLessThanOrEqualTo(30);
  }
}
