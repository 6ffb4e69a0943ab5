package io.penstock.node.config;

import io.penstock.device.memory.MemoryPages;
import io.penstock.storage.record.RecordFormat;
import io.penstock.tier.StackMode;
import java.util.Arrays;
import java.util.List;

/// The rules that tie several settings together. A rule about a setting that was refused by itself is left out; all
/// others are told at once.
final class Fit {
  private static final List<Setting<Capacity>> LEVELS = List.of(NodeSettings.HBM, NodeSettings.DRAM, NodeSettings.SSD);

  private final NodeConfig config;
  private final List<String> problems;

  private Fit(NodeConfig config, List<String> problems) {
    this.config = config;
    this.problems = problems;
  }

  /// Adds what of `config` cannot be at the same time.
  static void require(NodeConfig config, List<String> problems) {
    Fit fit = new Fit(config, problems);
    fit.rule(fit::shape, NodeSettings.BLOCK_BYTES, NodeSettings.LAYERS, NodeSettings.BLOCK_TOKENS);
    LEVELS.forEach(level -> fit.rule(() -> fit.oneBlock(level), level, NodeSettings.BLOCK_BYTES));
    fit.rule(fit::someLevel, NodeSettings.HBM, NodeSettings.DRAM, NodeSettings.SSD);
    fit.rule(fit::hugePages, NodeSettings.DRAM, NodeSettings.MEMORY_PAGES);
    fit.rule(fit::device, NodeSettings.HBM, NodeSettings.HBM_DEVICE);
    fit.rule(fit::folder, NodeSettings.SSD, NodeSettings.SSD_DIR);
    fit.rule(fit::writeThrough, NodeSettings.HBM, NodeSettings.DRAM, NodeSettings.SSD, NodeSettings.STACK_MODE,
        NodeSettings.BLOCK_BYTES);
    fit.rule(fit::segments, NodeSettings.SSD, NodeSettings.SSD_SEGMENT_BYTES, NodeSettings.BLOCK_BYTES,
        NodeSettings.LAYERS, NodeSettings.BLOCK_TOKENS);
    fit.rule(() -> fit.atLeast(NodeSettings.SSD_DISK_HIGH, NodeSettings.SSD_DISK_LOW), NodeSettings.SSD_DISK_HIGH,
        NodeSettings.SSD_DISK_LOW);
    fit.rule(() -> AscendSettings.requireFitOfMemory(config, problems), NodeSettings.HBM_DEVICE,
        NodeSettings.MEMORY_NUMA, NodeSettings.MEMORY_PAGES,
        NodeSettings.DRAM, AscendSettings.FABRIC_MEMORY);
    fit.rule(() -> AscendSettings.requireFitOfStaging(config, problems), AscendSettings.BUFFER_POOL,
        AscendSettings.ASYNC_TRANSFER, AscendSettings.FABRIC_MEMORY,
        AscendSettings.GLOBAL_RESOURCE_CONFIG);
    fit.rule(() -> fit.atLeast(NodeSettings.BUDGET, NodeSettings.SLICE_BYTES), NodeSettings.BUDGET,
        NodeSettings.SLICE_BYTES);
    fit.rule(() -> fit.atLeast(NodeSettings.RESERVE_BLOCKS, NodeSettings.WINDOW_BLOCKS), NodeSettings.RESERVE_BLOCKS,
        NodeSettings.WINDOW_BLOCKS);
  }

  /// @param about settings without which it says nothing
  private void rule(Runnable rule, Setting<?>... about) {
    if (Arrays.stream(about).allMatch(config::has)) {
      rule.run();
    }
  }

  private void shape() {
    if (!hasShape()) {
      problems.add("block.bytes must be a multiple of %d B, that is 4 B x %s x %s (%s)".formatted(unit(),
          config.said(NodeSettings.LAYERS),
          config.said(NodeSettings.BLOCK_TOKENS), config.was(NodeSettings.BLOCK_BYTES)));
    }
  }

  private boolean hasShape() {
    return config.get(NodeSettings.BLOCK_BYTES) % unit() == 0;
  }

  private long unit() {
    return BlockShape.unit(config.get(NodeSettings.LAYERS), config.get(NodeSettings.BLOCK_TOKENS));
  }

  private void oneBlock(Setting<Capacity> level) {
    if (!holdsOne(level)) {
      problems.add("%s must be >= one block, %s (%s)".formatted(level.key(), config.said(NodeSettings.BLOCK_BYTES),
          config.was(level)));
    }
  }

  private boolean holdsOne(Setting<Capacity> level) {
    return !(config.get(level) instanceof Capacity.Bytes some) || some.bytes() >= config.get(NodeSettings.BLOCK_BYTES);
  }

  private void someLevel() {
    if (LEVELS.stream().allMatch(level -> config.get(level).isOff())) {
      problems.add("one of hbm, dram and ssd must be > 0 (all are off)");
    }
  }

  private void hugePages() {
    if (config.get(NodeSettings.DRAM).equals(Capacity.UNBOUNDED)
        && config.get(NodeSettings.MEMORY_PAGES) == MemoryPages.HUGE) {
      problems.add("dram must be bounded for %s, which takes all of it at the start (%s)".formatted(
          config.said(NodeSettings.MEMORY_PAGES),
          config.was(NodeSettings.DRAM)));
    }
  }

  private void device() {
    if (config.get(NodeSettings.HBM).isOff() && config.get(NodeSettings.HBM_DEVICE) != DeviceKind.SIM) {
      problems.add(
          "hbm must be > 0 for %s (%s)".formatted(config.said(NodeSettings.HBM_DEVICE), config.was(NodeSettings.HBM)));
    }
  }

  private void folder() {
    if (!config.get(NodeSettings.SSD).isOff() && config.get(NodeSettings.SSD_DIR).isEmpty()) {
      problems.add("ssd.dir must be a folder when ssd is on (%s)".formatted(config.was(NodeSettings.SSD_DIR)));
    }
  }

  /// Written through, each level repeats what is above it.
  private void writeThrough() {
    if (config.get(NodeSettings.STACK_MODE) != StackMode.WRITE_THROUGH) {
      return;
    }
    if (config.get(NodeSettings.SSD).isOff()) {
      problems.add("ssd must be > 0 to be written through to (%s)".formatted(config.was(NodeSettings.SSD)));
    } else if (LEVELS.stream().allMatch(this::holdsOne)) {
      larger(LEVELS.stream().filter(level -> !config.get(level).isOff()).toList(),
          config.get(NodeSettings.BLOCK_BYTES));
    }
  }

  private void larger(List<Setting<Capacity>> levels, int blockBytes) {
    for (int i = 1; i < levels.size(); i++) {
      Setting<Capacity> above = levels.get(i - 1);
      Setting<Capacity> level = levels.get(i);
      if (config.get(level).inBlocks(blockBytes) <= config.get(above).inBlocks(blockBytes)) {
        problems.add("%s must be > %s, which it repeats when stack.mode is write_through (%s)".formatted(level.key(),
            config.said(above),
            config.was(level)));
      }
    }
  }

  private void segments() {
    long bytes = config.get(NodeSettings.SSD_SEGMENT_BYTES); // 0 is auto
    if (bytes > 0 && !config.get(NodeSettings.SSD).isOff() && hasShape()) {
      long least = 8L * RecordFormat.recordBytes(config.shape().layout());
      if (bytes < least) {
        problems.add("ssd.segment.bytes must be >= 8 records of a block, %d B (%s)".formatted(least,
            config.was(NodeSettings.SSD_SEGMENT_BYTES)));
      }
    }
  }

  private void atLeast(Setting<? extends Number> bigger, Setting<? extends Number> smaller) {
    if (config.get(bigger).longValue() < config.get(smaller).longValue()) {
      problems.add("%s must be >= %s (%s)".formatted(bigger.key(), config.said(smaller), config.was(bigger)));
    }
  }
}
