package io.penstock.node.serve;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.device.memory.HostMemoryRefusedException;
import io.penstock.device.memory.MappedMemory;
import io.penstock.device.memory.MemoryPages;
import io.penstock.node.config.ConfigException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.setting.Capacity;
import io.penstock.node.setting.DeviceKind;
import io.penstock.node.setting.Setting;
import io.penstock.node.text.Sizes;
import java.lang.management.ManagementFactory;
import java.util.List;
import reactor.core.publisher.Mono;

/// Says which setting asks for host memory that this machine has not.
final class MemoryFailure {
  private MemoryFailure() {}

  /// @return cold; signals [ConfigException] where the machine has no such NUMA node
  static Mono<Void> requireNode(NodeConfig config) {
    return Mono.fromRunnable(
        () -> config.get(NodeSettings.MEMORY_NUMA).ifPresent(node -> requireNode(config, node, MappedMemory.nodes())));
  }

  /// @return cold; signals [ConfigException] where the machine has less memory than the node may take
  static Mono<Void> requireMemory(NodeConfig config) {
    return Mono.fromRunnable(() -> {
      if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
        requireMemory(config, system.getTotalMemorySize()); // of the container, if there is one
      }
    });
  }

  static void requireMemory(NodeConfig config, long hasBytes) {
    int blockBytes = config.layout().blockBytes();
    long dram = bytes(config, NodeSettings.DRAM, blockBytes);
    long hbm = config.get(NodeSettings.HBM_DEVICE) == DeviceKind.SIM ? bytes(config, NodeSettings.HBM, blockBytes) : 0;
    long beside = Math.min(dram, hbm) + (long) config.get(NodeSettings.RESERVE_BLOCKS) * blockBytes
        + config.get(NodeSettings.BUDGET) + config.get(NodeSettings.FRAMES_BYTES);
    if (Math.max(dram, hbm) > hasBytes - beside) {
      throw told(config, dram >= hbm ? NodeSettings.DRAM : NodeSettings.HBM,
          "<= the memory of this machine, " + Sizes.human(hasBytes) + ", less " + Sizes.human(beside)
              + " for other levels, reserve.blocks, budget and frames.bytes",
          "");
    }
  }

  /// Bytes of the level; 0 without a bound: then it takes memory as blocks come.
  private static long bytes(NodeConfig config, Setting<Capacity> level, int blockBytes) {
    long blocks = config.get(level).inBlocks(blockBytes);
    return blocks == Long.MAX_VALUE ? 0 : Math.multiplyExact(blocks, (long) blockBytes);
  }

  static void requireNode(NodeConfig config, int node, List<Integer> nodes) {
    if (!nodes.contains(node)) {
      throw told(config, NodeSettings.MEMORY_NUMA,
          nodes.isEmpty()
              ? "none on this machine, which reports no NUMA nodes"
              : "a NUMA node of this machine, one of " + nodes + ", or none",
          "");
    }
  }

  /// Turns a failure to get memory into the exception that a command reports. Returns any other failure unchanged.
  static Throwable of(NodeConfig config, Throwable failure) {
    return !(failure instanceof HostMemoryRefusedException refused)
        ? failure
        : config.get(NodeSettings.MEMORY_PAGES) == MemoryPages.HUGE
            ? told(config, NodeSettings.MEMORY_PAGES,
                "auto or plain where large pages are not set aside for all of dram", refused)
            : told(config, NodeSettings.DRAM, "what the system has memory for", refused);
  }

  private static ConfigException told(NodeConfig config, Setting<?> setting, String rule,
      HostMemoryRefusedException refused) {
    ConfigException told = told(config, setting, rule, ": " + refused.getMessage());
    told.initCause(refused);
    return told;
  }

  private static ConfigException told(NodeConfig config, Setting<?> setting, String rule, String why) {
    Effective said = config.effective(setting);
    return new ConfigException(
        List.of("%s must be %s (was %s, from %s)%s".formatted(setting.key(), rule, said.text(), said.origin(), why)));
  }
}
