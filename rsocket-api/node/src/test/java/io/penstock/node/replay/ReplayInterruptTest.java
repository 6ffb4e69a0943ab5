package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.cli.OwnCommand;
import io.penstock.node.serve.QuickStart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// A replay in a process of its own that is stopped by Ctrl-C: nothing of it stays.
@Timeout(120)
@ExtendWith(QuickStart.class)
final class ReplayInterruptTest {
  @TempDir
  private Path temporary;
  @TempDir
  private Path said;

  @Test
  void interrupted_leavesNoFolderAndNoProcess() throws Exception {
    List<String> command = new ArrayList<>(
        OwnCommand.of(List.of("replay", "--limit", "1000000", "--block-bytes", "2KiB", "--layers", "4")));
    command.add(1, "-Djava.io.tmpdir=" + temporary);
    command.addAll(List.of("--processes", "--ssd", "1GiB", "--ssd-engine", "plain"));
    Path err = said.resolve("err");
    Process replay =
        new ProcessBuilder(command).redirectError(err.toFile()).redirectOutput(said.resolve("out").toFile()).start();
    List<ProcessHandle> parties = List.of();
    try {
      while (replay.isAlive() && !Files.readString(err).contains("requests,")) { // under way
        replay.waitFor(50, TimeUnit.MILLISECONDS);
      }
      parties = replay.descendants().toList();
      assertThat(parties).as(Files.readString(err)).hasSize(3);
      assertThat(names()).anyMatch(name -> name.startsWith("penstock-replay-"));
      // to the whole group, as Ctrl-C; a shell makes background processes ignore that signal itself
      List<String> kill = new ArrayList<>(List.of("kill", "-TERM", String.valueOf(replay.pid())));
      parties.forEach(party -> kill.add(String.valueOf(party.pid())));
      new ProcessBuilder(kill).start().waitFor();

      assertThat(replay.waitFor(30, TimeUnit.SECONDS)).as("it ends").isTrue();
      assertThat(replay.exitValue()).isEqualTo(143);
      assertThat(Files.readString(err)).containsPattern(
          "\nreplay: interrupted after [\\d,]+ of 1,000,000 requests: [\\d,]+ block references?, [\\d,]+ hits?, "
              + ".* verified; there is no report\n")
          .doesNotContain("onErrorDropped", "Exception", "was gone");
      assertThat(names()).noneMatch(name -> name.startsWith("penstock-"));
      assertThat(parties).noneMatch(ProcessHandle::isAlive);
    } finally {
      replay.destroyForcibly();
      parties.forEach(ProcessHandle::destroyForcibly);
    }
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(temporary)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
