package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.device.sidecar.RegionCopy;
import io.penstock.device.sidecar.RegionMemory;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.SideCarClientOptions;
import io.penstock.device.sidecar.SideCarFailure.SideCarUnavailableException;
import io.penstock.device.sidecar.SideCarHealth;
import io.penstock.device.sidecar.client.SideCarClient;
import io.penstock.node.AdminRequest;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.setting.Setting;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/// A node that copies for processes beside it.
@Timeout(120)
@EnabledOnOs(OS.LINUX)
final class SideCarNodeTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final int BYTES = 1 << 16;

  @TempDir
  private Path folder;

  private Node start() {
    Map<Setting<?>, String> flags = new HashMap<>();
    flags.put(NodeSettings.LISTEN_PORT, "0");
    flags.put(AdminSettings.PORT, "0");
    flags.put(NodeSettings.SIDECAR_CLIENT_BYTES, BYTES * 3 + " B");
    flags.put(NodeSettings.DRAM, "10 blocks");
    flags.put(NodeSettings.HBM, "2 blocks");
    flags.put(NodeSettings.SIDECAR, folder.resolve("socket").toString());
    return Objects.requireNonNull(Node.start(NodeConfig.resolve(null, Map.of(), flags)).block(SOON));
  }

  private static String metrics(Node node) throws IOException, InterruptedException {
    return AdminRequest.get(node.adminPort().orElseThrow(), "/metrics").body();
  }

  @Test
  void node_withASideCar_copiesForProcesses_andLeavesNoSocket() throws Exception {
    Node node = start();
    SideCarClient client = SideCarClient.open(folder.resolve("socket"), SideCarClientOptions.defaults());
    try (RegionMemory from = RegionMemory.allocate("from", BYTES);
        RegionMemory to = RegionMemory.allocate("to", BYTES)) {
      from.memory().fill((byte) 7);
      client.health().filter(SideCarHealth::isHealthy).next().block(SOON);
      client.register(from.region(1)).block(SOON);
      client.register(to.region(2)).block(SOON);
      client.copy(List.of(new RegionCopy(1, 0, 2, 0, BYTES))).block(SOON);
      assertThat(to.memory().mismatch(from.memory())).isEqualTo(-1);
      assertThatThrownBy(() -> client.register(new RegionSpec(3, 2 * BYTES, from.region(1).source())).block(SOON))
          .isInstanceOf(SideCarUnavailableException.class)
          .hasMessageContaining("131072 bytes beside 131072 of at most 196608 of a client");
      assertThat(metrics(node)).contains("penstock_sidecar_clients 1.0\n", "penstock_sidecar_regions 2.0\n",
          "penstock_sidecar_mapped_bytes 131072.0\n",
          "penstock_sidecar_copies_total 1.0\n", "penstock_sidecar_copied_bytes_total 65536.0\n",
          "penstock_sidecar_failures_total{code=\"too_large\"} 1.0\n",
          "penstock_sidecar_failures_total{code=\"copy_failed\"} 0.0\n");
      assertThatThrownBy(this::start)
          .hasMessageMatching("(?s).*sidecar must be a path where this user can listen \\(was .*socket, from .*");
    } finally {
      client.close().block(SOON);
      node.close().block(SOON);
    }
    assertThat(folder.resolve("socket")).doesNotExist();
  }
}
