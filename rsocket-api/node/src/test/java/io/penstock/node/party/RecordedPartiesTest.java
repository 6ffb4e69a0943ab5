package io.penstock.node.party;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.node.serve.QuickStart;
import io.penstock.node.tiers.TierRecording;
import io.penstock.recording.RecordedLink;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// A replay of four processes, its driver among them, in which each of the others records, and is played.
@Timeout(180)
@ExtendWith(QuickStart.class)
final class RecordedPartiesTest {
  @TempDir
  private Path folder;

  private void playsEqual(int loops, int times) {
    Path all = folder.resolve("loops-" + loops);
    CommandLineRun run = CommandLineRun.of("replay", "--limit", "5", "--scale", "256", "--processes", "--loops",
        String.valueOf(loops), "--record", all.toString());
    assertThat(run.exitCode()).as(run.err()).isZero();

    CommandLineRun played = CommandLineRun.of("replay", all.toString(), "--repeat", String.valueOf(times));
    assertThat(played.exitCode()).as(played.out() + played.err()).isZero();
    assertThat(played.out()).contains(times + " runs: SHA-256 equal in all of them")
        .contains("2 links between them").contains("were received as they were sent")
        .contains("3 recordings: all equal to what was recorded; SHA-256 ");
  }

  @Test
  void fourProcesses_withTwoLoops_playEqual() {
    playsEqual(2, 5);
  }

  @Tag("proof")
  @Test
  void fourProcesses_playEqual_100Times() {
    playsEqual(1, 100);
    playsEqual(2, 100);
  }

  private void linkOf(String name, String peer, String local, boolean sends, long bytes) {
    try (TierRecording recording = TierRecording.begin(folder.resolve("links").resolve(name))) {
      RecordedLink link = recording.recorder().link(peer, local);
      if (sends) {
        link.sent(1, bytes, 0, "put");
      } else {
        link.received(1, bytes, 0, "put");
      }
    }
  }

  @Test
  void messageThatArrivedOtherwise_isFound() {
    linkOf("client", "127.0.0.1:7733", "127.0.0.1:50000", true, 100);
    linkOf("node", "127.0.0.1:50000", "127.0.0.1:7733", false, 101);

    CommandLineRun played = CommandLineRun.of("replay", folder.resolve("links").toString());
    assertThat(played.exitCode()).isEqualTo(1);
    assertThat(played.out())
        .contains("message 1 was sent as put of stream 1, 100 bytes and received as put of stream 1")
        .contains("2 recordings: DIFFERENT");
  }

  @Test
  void record_ofProcesses_needsAnEmptyFolder() {
    linkOf("client", "127.0.0.1:7733", "127.0.0.1:50000", true, 100);

    CommandLineRun run = CommandLineRun.of("replay", "--limit", "1", "--processes", "--record",
        folder.resolve("links").toString());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("--record must be a folder that is empty or not there");
  }
}
