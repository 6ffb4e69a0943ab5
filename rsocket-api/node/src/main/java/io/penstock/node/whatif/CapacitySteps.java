package io.penstock.node.whatif;

import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.ModelSize;
import io.penstock.pool.curve.WhatIf;
import java.util.ArrayList;
import java.util.List;

/// Growth of the capacity of levels.
///
/// @param adds growth, each added to the present capacity; if empty, the half, the whole and three times of it
/// @param levels names of the levels; if empty, all
record CapacitySteps(List<Capacity> adds, List<String> levels) {
  private static final List<Double> PARTS = List.of(0.5, 1.0, 3.0);

  CapacitySteps {
    adds = List.copyOf(adds);
    levels = List.copyOf(levels);
  }

  /// Blocks to add to `level`, of which the first is 0; empty for a level that is not wanted. Levels without bound do
  /// not grow, and steps with equal numbers of blocks are one.
  List<Long> of(WhatIf.Level level, ModelSize size) {
    List<Long> blocks = new ArrayList<>();
    if (levels.isEmpty() || levels.contains(level.name())) {
      blocks.add(0L);
      if (level.capacityBlocks() < Long.MAX_VALUE && adds.isEmpty()) {
        PARTS.forEach(part -> blocks.add(Math.max(1, Math.round(part * level.capacityBlocks()))));
      } else if (level.capacityBlocks() < Long.MAX_VALUE) {
        adds.forEach(add -> blocks.add(size.blocks("--add", add)));
      }
    }
    return blocks.stream().distinct().toList();
  }
}
