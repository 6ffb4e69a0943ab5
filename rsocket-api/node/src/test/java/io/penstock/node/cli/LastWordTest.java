package io.penstock.node.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A last word, and a temporary folder, of a process that is ending already. What a signal does to one is shown by `ReplayInterruptTest`.
@Timeout(60)
final class LastWordTest {
  @TempDir private Path parent;

  @Test
  void processThatIsEnding_goesOnWithoutOne_andLeavesNoFolder() throws Exception {
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m", "-XX:TieredStopAtLevel=1",
        "-Dparent=" + parent, "-cp", System.getProperty("java.class.path"), Ending.class.getName()).redirectErrorStream(true).start();

    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("went on\na temporary folder must be made before the process ends (was ending)\n");
    assertThat(process.waitFor()).isZero();
    assertThat(parent).isEmptyDirectory();
  }

  /// A process that is ending when it comes to have something to say.
  static final class Ending {
    private Ending() {}

    public static void main(String[] args) {
      Runtime.getRuntime().addShutdownHook(new Thread(Ending::late));
    }

    private static void late() {
      try (LastWord _ = new LastWord(Console.ofProcess(), () -> "the last word")) {
        System.out.print("went on\n");
        TemporaryFolder.in(Path.of(System.getProperty("parent")), "late-");
      } catch (IOException e) {
        System.out.print(e.getMessage() + "\n");
      }
      System.out.flush();
    }
  }
}
