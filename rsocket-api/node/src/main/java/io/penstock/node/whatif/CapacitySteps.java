package io.penstock.node.whatif;

import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.ModelSize;
import io.penstock.pool.curve.WhatIf;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Growth of the capacity of levels.
///
/// @param adds growth, each added to the present capacity; if empty, the half, the whole and three times of it
/// @param levels names of the levels; if empty, all
/// @param present capacities that options state for levels, by name: a sum of bytes is rounded to blocks once
record CapacitySteps(List<Capacity> adds, List<String> levels, Map<String, Capacity> present) {
  private static final List<Double> PARTS = List.of(0.5, 1.0, 3.0);

  CapacitySteps {
    adds = List.copyOf(adds);
    levels = List.copyOf(levels);
    present = Map.copyOf(present);
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
        adds.forEach(add -> blocks.add(added(level, add, size)));
      }
    }
    return blocks.stream().distinct().toList();
  }

  private long added(WhatIf.Level level, Capacity add, ModelSize size) {
    long blocks = size.blocks("--add", add);
    return add instanceof Capacity.Bytes more && present.get(level.name()) instanceof Capacity.Bytes now
        ? Math.addExact(now.bytes(), more.bytes()) / size.blockBytes() - level.capacityBlocks()
        : blocks;
  }
}
