package io.penstock.node.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.device.ascend.CopyMethod;
import io.penstock.device.ascend.DriverDouble;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.node.CommandLineRun;
import io.penstock.node.config.AscendSettings;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.serve.Node;
import io.penstock.node.setting.Setting;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
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
    return AscendRuns.replay(library, environment);
  }

  private static void requireClean(CommandLineRun run) throws IOException {
    AscendRuns.requireClean(run);
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
    assertThat(run.err()).startsWith(
        "replay: ascend.fabric.memory must be false where the driver has not all of the host memory (was true: ");
    assertThat(driver.calls("aclFinalize")).isOne();
  }

  @Test
  void fabricMemory_withALibraryThatHasNone_endsTheStart() {
    CommandLineRun run = replay(Map.of("ASCEND_ENABLE_USE_FABRIC_MEM", "1"), DriverDouble.of(Profile.CANN_82).path());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).isEqualTo(
        "replay: ascend.fabric.memory must be false with a library that has no aclrtMemExportToShareableHandleV2, "
            + "aclrtMemImportFromShareableHandleV2 (was true)\n");
  }

  @Test
  void buffersThatTheDriverHasNoMemoryFor_endTheStart() {
    driver.limits(1 << 20, Long.MAX_VALUE, Long.MAX_VALUE);
    CommandLineRun run = replay(Map.of("ASCEND_BUFFER_POOL", "4:8"), driver.path());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .startsWith("replay: ascend.buffer.pool must be what the driver has host memory for (was 4:8: ");
    assertThat(driver.calls("aclFinalize")).isOne();
  }

  /// What a node says of its memory after it took some blocks.
  private static String stat(Path folder, Map<Setting<?>, String> more) throws Exception {
    Node node = AscendRuns.start(driver.path(), more);
    try {
      Path acks = folder.resolve("receipts");
      AscendRuns.load(node, acks);
      AscendRuns.requireWell(node, "check", "--receipts", acks.toString());
      String metrics = AscendRuns.metrics(node);
      return AscendRuns.requireWell(node, "stat").out() + metrics;
    } finally {
      node.close().block();
    }
  }

  @Test
  void stat_tellsWhereMemoryIsFrom(@TempDir Path folder) throws Exception {
    String text = stat(folder, Map.of());
    assertThat(text)
        .containsPattern("memory +[0-9.]+ MiB: pages of 2 MiB that the device reaches; on any node,\\s+locked\n")
        .containsPattern("penstock_memory_taken_bytes\\{pages=\"host_2m\"} [1-9]")
        .containsPattern("penstock_memory_locked_bytes [1-9]");
    assertThat(driver.strangers()).isZero();
  }

  @Test
  void pagesThatAreAskedFor_areTheSystems_andCopiesAreStaged(@TempDir Path folder) throws Exception {
    String text = stat(folder, Map.of(NodeSettings.MEMORY_PAGES, "plain", AscendSettings.BUFFER_POOL, "4:1"));
    assertThat(text).containsPattern("memory +[0-9.]+ MiB: plain pages; on any node, not locked\n")
        .containsPattern("memory +4.00 MiB: pages of 2 MiB that the device reaches; on any node,\\s+locked\n");
    assertThat(driver.strangers()).isZero();
  }
}
