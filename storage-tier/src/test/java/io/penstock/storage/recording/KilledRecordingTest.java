package io.penstock.storage.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.recording.Player.Outcome;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A process that records a busy tier ends at any moment: its recording opens, and what is there is played.
///
/// A stopped process is one that is killed, as far as its files go: what it wrote is in the page cache, complete or
/// not. So the files of one process are copied at several moments, the last of which is its SIGKILL.
@Timeout(900)
final class KilledRecordingTest {
  private static final int MOST_BURSTS = 3;
  private static final int MOST_NANOS = 8_000_000;

  @TempDir
  private Path folder;

  private long turns;

  @Test
  void atTwentyMoments_whatIsThereIsPlayed() throws Exception {
    for (int seed = 0; seed < 2; seed++) {
      end(seed, 10);
    }
    assertThat(turns).isGreaterThan(20 * 200);
  }

  @Tag("proof")
  @Test
  void killedTwoHundredTimes_whatIsThereIsPlayed() throws Exception {
    for (int seed = 0; seed < 200; seed++) {
      end(seed, 1);
    }
  }

  private void end(int seed, int moments) throws Exception {
    Path recording = folder.resolve("recording-" + seed);
    Random random = new Random(seed);
    Process process = start(recording, seed);
    try {
      for (int moment = 1; moment <= moments; moment++) {
        work(process, 1 + random.nextInt(MOST_BURSTS));
        spin(random.nextInt(MOST_NANOS));
        if (moment == moments) {
          process.destroyForcibly().waitFor();
          requirePlayed(recording, "seed %d, killed".formatted(seed));
        } else {
          signal("-STOP", process);
          Path copy = copy(recording, folder.resolve("copy-%d-%d".formatted(seed, moment)));
          signal("-CONT", process);
          requirePlayed(copy, "seed %d, moment %d".formatted(seed, moment));
        }
      }
    } finally {
      process.destroyForcibly();
    }
  }

  private static Process start(Path recording, int seed) throws IOException {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"));
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(flag -> flag.startsWith("--"))
        .forEach(command::add);
    command.addAll(List.of("-cp",
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
        BusyTier.Recording.class.getName(), recording.toString(), "" + seed));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
  }

  /// Lets the process work for some bursts, and waits for the beginning of the last one.
  private static void work(Process process, int bursts) throws IOException {
    process.getOutputStream().write(new byte[bursts]);
    process.getOutputStream().flush();
    assertThat(process.getInputStream().readNBytes(bursts)).as("signs of life").hasSize(bursts);
  }

  private static void spin(long nanos) {
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() - end < 0) {
      Thread.onSpinWait();
    }
  }

  private static void signal(String signal, Process process) throws Exception {
    int code = new ProcessBuilder("kill", signal, "" + process.pid()).inheritIO().start().waitFor();
    assertThat(code).as("kill " + signal).isZero();
  }

  private static Path copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    return to;
  }

  private void requirePlayed(Path recording, String when) {
    assertThat(RecordingReader.isRecording(recording)).as(when).isTrue();
    Outcome outcome = BusyTier.play(recording);
    assertThat(outcome.difference()).as(when).isNull();
    assertThat(outcome.gap()).as(when + ": gap").isFalse();
    turns += outcome.turns();
  }
}
