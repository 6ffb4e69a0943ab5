package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.admin.NodeState;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.setting.Setting;
import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A node that starts on a disk that does not answer. A pipe in place of the file `format` keeps its reader waiting, as
/// a frozen disk does.
@Timeout(60)
final class OpeningDiskTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  @TempDir
  private Path folder;

  private Node start() {
    Map<Setting<?>, String> flags = new HashMap<>();
    flags.put(NodeSettings.LISTEN_PORT, "0");
    flags.put(AdminSettings.PORT, "0");
    flags.put(NodeSettings.DRAM, "20 blocks");
    flags.put(NodeSettings.SSD, "100 blocks");
    flags.put(NodeSettings.SSD_DIR, folder.resolve("ssd").toString());
    flags.put(NodeSettings.SSD_ENGINE, "plain");
    flags.put(NodeSettings.SSD_STALL_AFTER, "100ms");
    return Objects.requireNonNull(Node.start(NodeConfig.resolve(null, Map.of(), flags)).block(SOON));
  }

  private static HttpResponse<String> health(Node node) throws IOException, InterruptedException {
    return AdminRequest.get(node.adminPort().orElseThrow(), "/health");
  }

  private void load(Node node, long seed) {
    CommandLineRun load = CommandLineRun.of("load", "--connect", "127.0.0.1:" + node.port(), "--blocks", "5", "--seed",
        String.valueOf(seed), "--receipts", folder.resolve("receipts-" + seed).toString());
    assertThat(load.exitCode()).as(load.err()).isZero();
  }

  @Test
  void nodeOnADiskThatDoesNotAnswer_servesFromMemory_andAdminSaysThatTheDiskIsOpening() throws Exception {
    Path format = Files.createDirectory(folder.resolve("ssd")).resolve("format");
    assumeTrue(new ProcessBuilder("mkfifo", format.toString()).start().waitFor() == 0, "no mkfifo here");
    Node node = start();
    try {
      HttpResponse<String> answer = health(node);
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains("\"state\":\"opening\"", "\"problem\":\"disk level is opening\"",
          "\"degraded\":true");
      load(node, 1);
      assertThat(AdminRequest.get(node.adminPort().orElseThrow(), "/metrics").body())
          .contains("penstock_level_active{level=\"ssd\",medium=\"disk\",tier=\"stack\"} 0.0");

      Files.writeString(format, "penstock journal, format 2, engine plain\n"); // the disk answers
      Eventually.holds("the disk has opened", () -> node.state() != NodeState.OPENING);
      answer = health(node);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(answer.body()).contains("\"state\":\"ready\"", "\"degraded\":false");
      load(node, 2);
      node.close().block(SOON);
    } finally {
      node.close().onErrorComplete().block(SOON);
    }
  }
}
