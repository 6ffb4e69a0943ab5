package io.penstock.node.config;

import io.penstock.stack.shape.StackOptions.Mode;
import io.penstock.stack.shape.StackOptions.WritePolicy;
import java.util.List;
import java.util.Locale;

/// Time at which a node writes blocks to its disk: `write.policy`, which names a combination of `stack.mode` and
/// `ssd.offload.uses`; and the memory that it keeps free for writes.
public final class Writing {
  private static final int HIGH = 90;

  private Writing() {}

  /// Levels of a block.
  public static Mode mode(NodeConfig config) {
    return config.get(NodeSettings.WRITE_POLICY).map(WritePolicy::mode).orElse(config.get(NodeSettings.STACK_MODE));
  }

  /// Number of uses that a block needs to be demoted to disk.
  public static int offloadUses(NodeConfig config) {
    int stated = config.get(NodeSettings.SSD_OFFLOAD_USES);
    return config.states(NodeSettings.SSD_OFFLOAD_USES)
        ? stated
        : config.get(NodeSettings.WRITE_POLICY).map(WritePolicy::uses).orElse(stated);
  }

  /// The high watermark of memory, as a part. Where no block has to be copied when it leaves memory, eviction takes no
  /// time, and free memory would only cost hits.
  public static double memoryHigh(NodeConfig config) {
    boolean copies = mode(config) == Mode.EXCLUSIVE && !config.get(NodeSettings.SSD).isOff();
    return config.get(NodeSettings.DRAM_HIGH).orElse(copies ? HIGH : 100) / 100.0;
  }

  /// The low watermark of memory, as a part.
  public static double memoryLow(NodeConfig config) {
    return Math.min(config.get(NodeSettings.DRAM_LOW) / 100.0, memoryHigh(config));
  }

  /// Adds combinations of `write.policy` and the settings that it names that are not possible.
  static void require(NodeConfig config, List<String> problems) {
    config.get(NodeSettings.WRITE_POLICY).ifPresent(policy -> require(config, policy, problems));
  }

  private static void require(NodeConfig config, WritePolicy policy, List<String> problems) {
    String named = config.said(NodeSettings.WRITE_POLICY);
    if (config.states(NodeSettings.STACK_MODE) && config.get(NodeSettings.STACK_MODE) != policy.mode()) {
      problems.add("stack.mode must be %s for %s (%s)".formatted(policy.mode().name().toLowerCase(Locale.ROOT), named,
          config.was(NodeSettings.STACK_MODE)));
    }
    if (config.states(NodeSettings.SSD_OFFLOAD_USES)
        && (config.get(NodeSettings.SSD_OFFLOAD_USES) > 0) != (policy.uses() > 0)) {
      problems.add("ssd.offload.uses must be %s for %s (%s)".formatted(policy.uses() > 0 ? "> 0" : "0", named,
          config.was(NodeSettings.SSD_OFFLOAD_USES)));
    }
    if (config.get(NodeSettings.SSD).isOff() && policy.mode() != Mode.WRITE_THROUGH) { // that has a rule of its own
      problems.add("ssd must be > 0 for %s (%s)".formatted(named, config.was(NodeSettings.SSD)));
    }
  }

  /// Adds `dram.high` if it is below `dram.low`.
  static void requireWatermarks(NodeConfig config, List<String> problems) {
    if (config.get(NodeSettings.DRAM_HIGH).filter(high -> high < config.get(NodeSettings.DRAM_LOW)).isPresent()
        && config.states(NodeSettings.DRAM_LOW)) {
      problems.add("dram.high must be >= %s (%s)".formatted(config.said(NodeSettings.DRAM_LOW),
          config.was(NodeSettings.DRAM_HIGH)));
    }
  }
}
