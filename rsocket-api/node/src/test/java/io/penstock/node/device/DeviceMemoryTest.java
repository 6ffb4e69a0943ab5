package io.penstock.node.device;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.penstock.device.ascend.CopyMethod;
import io.penstock.device.ascend.DriverDouble;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.node.CommandLineRun;
import io.penstock.node.config.AscendSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.Setting;
import io.penstock.node.serve.Node;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Where the host memory of a node with a device comes from, by which way copies go, and what is said of it.
@Timeout(300)
final class DeviceMemoryTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static DriverDouble driver;

  @BeforeAll
  static void compile() {
    driver = DriverDouble.of(Profile.CANN_90);
  }

  @BeforeEach
  void reset() {
    driver.reset(2, 64 << 20);
  }

  private static CommandLineRun replay(Map<String, String> environment, String library) {
    return CommandLineRun.with(environment, new byte[0], "replay", "--limit", "300", "--block-bytes", "4KiB", "--layers", "4", "--hbm", "60 blocks",
        "--dram", "90 blocks", "--hbm-device", "ascend", "--ascend-lib", library, "--json");
  }

  private static void requireClean(CommandLineRun run) throws IOException {
    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode report = JSON.readTree(run.out());
    assertThat(report.get("corruptBlocks").longValue()).isZero();
    assertThat(report.get("leakedBlocks").longValue()).isZero();
    assertThat(report.get("bytesVerified")).isEqualTo(report.get("bytesDelivered"));
    assertThat(driver.copied(CopyMethod.BATCH)).isPositive();
    assertThat(driver.calls("aclFinalize")).isOne();
  }

  @Test
  void hostMemory_isOfTheDriver_andCopiesKnowIt() throws IOException {
    requireClean(replay(Map.of(), driver.path()));
    assertThat(driver.calls("aclrtMallocPhysical")).isOne();
    assertThat(driver.calls("aclrtFreePhysical")).isOne();
    assertThat(driver.strangers()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0:0", "2:1"})
  void whatTheDriverDoesNotHave_isTheSystems_andStagedIfThatIsWanted(String buffers) throws IOException {
    driver.limits((1 << 20) - 1, Long.MAX_VALUE, Long.MAX_VALUE);
    if (!buffers.equals("0:0")) {
      driver.limits(2 << 20, 0, 0); // the buffers are the last that it has
      driver.fail("aclrtMallocPhysical", 2, Long.MAX_VALUE, 200_000, -1);
      driver.fail("aclrtMallocHost", 1, Long.MAX_VALUE, 200_000, -1);
    }
    requireClean(replay(Map.of("ASCEND_BUFFER_POOL", buffers), driver.path()));
    assertThat(driver.strangers() == 0).isEqualTo(!buffers.equals("0:0"));
  }

  @Test
  void fabricMemory_isAllThatThereIs() throws IOException {
    requireClean(replay(Map.of("ASCEND_ENABLE_USE_FABRIC_MEM", "1"), driver.path()));
    assertThat(driver.calls("aclrtMallocPhysical")).as("of the device, and of the host").isEqualTo(2);
    assertThat(driver.calls("aclrtMalloc") + driver.calls("aclrtMallocHost")).isZero();
    assertThat(driver.strangers()).isZero();
  }

  @Test
  void fabricMemory_thatIsNotThere_endsTheStart() {
    driver.fail("aclrtMallocPhysical", 2, Long.MAX_VALUE, 200_000, -1);
    CommandLineRun run = replay(Map.of("ASCEND_ENABLE_USE_FABRIC_MEM", "1"), driver.path());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("replay: ascend.fabric.memory must be false where the driver has not all of the host memory (was true: ");
    assertThat(driver.calls("aclFinalize")).isOne();
  }

  @Test
  void fabricMemory_withALibraryThatHasNone_endsTheStart() {
    CommandLineRun run = replay(Map.of("ASCEND_ENABLE_USE_FABRIC_MEM", "1"), DriverDouble.of(Profile.CANN_82).path());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).isEqualTo("replay: ascend.fabric.memory must be false with a library that has no aclrtMemExportToShareableHandleV2, "
        + "aclrtMemImportFromShareableHandleV2 (was true)\n");
  }

  @Test
  void buffersThatTheDriverHasNoMemoryFor_endTheStart() {
    driver.limits(1 << 20, Long.MAX_VALUE, Long.MAX_VALUE);
    CommandLineRun run = replay(Map.of("ASCEND_BUFFER_POOL", "4:8"), driver.path());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("replay: ascend.buffer.pool must be what the driver has host memory for (was 4:8: ");
    assertThat(driver.calls("aclFinalize")).isOne();
  }

  /// What a node of 64 blocks of 4 KiB in host memory says of it, after it took some.
  private static String stat(Path folder, Map<Setting<?>, String> more) {
    Map<Setting<?>, String> settings = new HashMap<>(Map.of(NodeSettings.LISTEN_PORT, "0", NodeSettings.ADMIN_PORT, "0", NodeSettings.HBM,
        "1000 blocks", NodeSettings.DRAM, "64 blocks", NodeSettings.BLOCK_BYTES, "4KiB", NodeSettings.HBM_DEVICE, "ascend", AscendSettings.LIBRARY,
        driver.path()));
    settings.putAll(more);
    Node node = requireNonNull(Node.start(NodeConfig.resolve(null, Map.of(), settings)).block());
    try {
      List<String> peer = List.of("--block-bytes", "4KiB", "--connect", "127.0.0.1:" + node.port());
      CommandLineRun load = run(List.of("load", "--blocks", "500", "--acks", folder.resolve("acks").toString()), peer);
      assertThat(load.exitCode()).as(load.err()).isZero();
      CommandLineRun check = run(List.of("check", "--acks", folder.resolve("acks").toString()), peer);
      assertThat(check.exitCode()).as(check.err()).isZero();
      String metrics = get(node, "/metrics");
      CommandLineRun stat = run(List.of("stat"), peer);
      assertThat(stat.exitCode()).as(stat.err()).isZero();
      return stat.out() + metrics;
    } finally {
      node.close().block();
    }
  }

  private static CommandLineRun run(List<String> command, List<String> peer) {
    return CommandLineRun.of(Stream.concat(command.stream(), peer.stream()).toArray(String[]::new));
  }

  private static String get(Node node, String path) {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + node.adminPort().orElseThrow() + path)).build(),
          BodyHandlers.ofString()).body();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void stat_tellsWhereMemoryIsFrom(@TempDir Path folder) {
    String text = stat(folder, Map.of());
    assertThat(text).containsPattern("memory +[0-9.]+ MiB: pages of 2 MiB that the device reaches; on any node, locked\n")
        .containsPattern("penstock_memory_taken_bytes\\{pages=\"host_2m\"} [1-9]").containsPattern("penstock_memory_locked_bytes [1-9]");
    assertThat(driver.strangers()).isZero();
  }

  @Test
  void pagesThatAreAskedFor_areTheSystems_andCopiesAreStaged(@TempDir Path folder) {
    String text = stat(folder, Map.of(NodeSettings.MEMORY_PAGES, "plain", AscendSettings.BUFFER_POOL, "4:1"));
    assertThat(text).containsPattern("memory +[0-9.]+ MiB: plain pages; on any node, not locked\n")
        .containsPattern("memory +4.00 MiB: pages of 2 MiB that the device reaches; on any node, locked\n");
    assertThat(driver.strangers()).isZero();
  }
}
