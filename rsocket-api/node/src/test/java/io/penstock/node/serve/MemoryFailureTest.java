package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.node.config.ConfigException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.setting.Setting;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What a node with too little memory is told before it takes any.
final class MemoryFailureTest {
  private static final long MACHINE = 23L << 30;

  private static NodeConfig config(Map<Setting<?>, String> flags) {
    return NodeConfig.resolve(null, Map.of(), flags);
  }

  @Test
  void memoryThatTheMachineHasNot_isRefused_withBothNumbers() {
    NodeConfig config = config(Map.of(NodeSettings.DRAM, "100GiB"));

    assertThatThrownBy(() -> MemoryFailure.requireMemory(config, MACHINE)).isInstanceOf(ConfigException.class)
        .hasMessage("dram must be <= the memory of this machine, 23.0 GiB, less 104 MiB for other levels, "
            + "reserve.blocks, budget and frames.bytes (was 100 GiB, from --dram)");
  }

  @Test
  void blocks_count_asTheirBytes_andSoDoesADeviceOfHostMemory() {
    NodeConfig blocks = config(Map.of(NodeSettings.DRAM, "1000000 blocks"));
    NodeConfig device = config(Map.of(NodeSettings.DRAM, "12GiB", NodeSettings.HBM, "12GiB"));

    assertThatThrownBy(() -> MemoryFailure.requireMemory(blocks, MACHINE))
        .hasMessageContaining("(was 1000000 blocks, from --dram)");
    assertThatThrownBy(() -> MemoryFailure.requireMemory(device, MACHINE)).hasMessageContaining("less 12.1 GiB");
  }

  @Test
  void memoryThatTheMachineHas_isTaken_andOneWithoutABound_asBlocksCome() {
    assertThatCode(() -> {
      MemoryFailure.requireMemory(config(Map.of(NodeSettings.DRAM, "22GiB")), MACHINE);
      MemoryFailure.requireMemory(config(Map.of(NodeSettings.DRAM, "unbounded")), MACHINE);
      MemoryFailure.requireMemory(config(Map.of()), MACHINE);
    }).doesNotThrowAnyException();
  }
}
