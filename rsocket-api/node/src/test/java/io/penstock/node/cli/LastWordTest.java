package io.penstock.node.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A last word, and a temporary folder, of a process that is ending already. What a signal does to one is shown by
/// `ReplayInterruptTest`.
@Timeout(60)
final class LastWordTest {
  @TempDir
  private Path parent;

  @Test
  void processThatIsEnding_goesOnWithoutOne_andLeavesNoFolder() throws Exception {
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
        "-XX:TieredStopAtLevel=1",
        "-Dparent=" + parent, "-cp", System.getProperty("java.class.path"), Ending.class.getName())
        .redirectErrorStream(true).start();

    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo("went on\na temporary folder must be made before the process ends (was ending)\n");
    assertThat(process.waitFor()).isZero();
    assertThat(parent).isEmptyDirectory();
  }

  @Test
  void processThatASignalEnds_printsItsDocument_andSaysItsWord() throws Exception {
    Process process = java(Working.class, "park");
    try (BufferedReader out = process.inputReader()) {
      assertThat(out.readLine()).isEqualTo("under way");
      process.toHandle().destroy(); // which leaves its streams open
      assertThat(out.lines()).containsExactly("{\"done\":3,\"interrupted\":true}");
    }
    assertThat(process.waitFor()).isEqualTo(143);
    assertThat(process.errorReader().lines()).containsExactly("work: interrupted after 3 of 10 blocks");
  }

  @Test
  void processWhoseWorkIsDoneWhenItIsEndingAlready_printsOneDocument() throws Exception {
    Process process = java(Working.class, "exit");

    assertThat(process.inputReader().lines()).containsExactly("under way", "{\"done\":3,\"interrupted\":true}");
    assertThat(process.waitFor()).isEqualTo(9);
  }

  private static Process java(Class<?> main, String... words) throws IOException {
    List<String> command =
        new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
            "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(words));
    return new ProcessBuilder(command).start();
  }

  /// Work that is ended from without, or by itself at the moment when it would be done.
  static final class Working {
    private Working() {}

    public static void main(String[] args) {
      try (Progress progress = Progress.of(Console.ofProcess(), "work", "blocks")) {
        progress.at(3, 10);
        progress.resultSoFar(Map.of("done", 3));
        System.out.println("under way");
        if (args[0].equals("exit")) {
          Thread.ofPlatform().start(() -> System.exit(9));
          awaitEnding();
        } else {
          LockSupport.park();
        }
      }
      System.out.println("{\"done\":10}");
    }

    private static void awaitEnding() {
      Thread hook = new Thread();
      try {
        while (true) {
          Runtime.getRuntime().addShutdownHook(hook);
          Runtime.getRuntime().removeShutdownHook(hook);
        }
      } catch (IllegalStateException e) {
        return;
      }
    }
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
