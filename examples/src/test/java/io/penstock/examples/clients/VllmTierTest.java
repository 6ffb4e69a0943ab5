package io.penstock.examples.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.node.PenstockMain;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The secondary tier for vLLM, driven by a scheduler like vLLM's against a node that is killed, frozen, damaged and
/// full: `vllm_trial.py`. Skipped without Python.
final class VllmTierTest {
  private static final Path FOLDER = Path.of(System.getProperty("basedir", "")).toAbsolutePath()
      .resolve("clients/python");

  /// What the trial says of a node whose blocks have 8 KiB; it must end with 0.
  private static String trial(String... options) throws IOException, InterruptedException {
    return trial(0, "8KiB", options);
  }

  private static String trial(int status, String blockBytes, String... options)
      throws IOException, InterruptedException {
    assumeTrue(Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "python3"))), "python3 is not installed");
    assumeTrue(Files.isWritable(Path.of("/dev/shm")), "there is no /dev/shm");
    long seed = new Random().nextInt(1, Integer.MAX_VALUE);
    List<String> command = new ArrayList<>(List.of("python3", "vllm_trial.py", "--seed", "" + seed));
    command.addAll(List.of(options));
    command.addAll(List.of("--", ProcessHandle.current().info().command().orElseThrow(), "-Xmx192m",
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow", "-cp", System.getProperty("java.class.path"),
        PenstockMain.class.getName(), "serve", "--model", "vllm", "--layers", "1", "--block-bytes", blockBytes,
        "--dram",
        "1500 blocks", "--memory-pages", "plain", "--listen-port", "0", "--admin-port", "off"));
    ProcessBuilder builder = new ProcessBuilder(command).directory(FOLDER.toFile()).redirectErrorStream(true);
    builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).as(said).isTrue();
      assertThat(process.exitValue()).as(said).isEqualTo(status);
      return said;
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  @Timeout(300)
  void slotsEqualWhatWasStored_orTheJobFailed_whateverBecomesOfTheNode() throws Exception {
    assertThat(trial("--jobs", "400", "--kills", "1", "--freezes", "1", "--damages", "2", "--fulls", "1"))
        .contains("1 killed", "1 frozen", "load done", "store done", "1 filled", "store failed");
  }

  @Test
  @Timeout(100)
  void nodeWhoseBlocksAreNoSlots_isRefusedBeforeAJobRuns() throws Exception {
    assertThat(trial(2, "16KiB"))
        .contains("error: blocks of the node must have 8192 bytes, as --stride says (were 16384,"
            + " of model vllm)");
  }

  @Test
  @Tag("proof")
  @Timeout(3_600)
  void hundredThousandJobs() throws Exception {
    for (String names : List.of("earlier", "later")) {
      assertThat(trial("--jobs", "50000", "--kills", "25", "--freezes", "50", "--damages", "200", "--fulls", "25",
          "--names", names)).contains("25 killed", "load done", "store done");
    }
  }
}
