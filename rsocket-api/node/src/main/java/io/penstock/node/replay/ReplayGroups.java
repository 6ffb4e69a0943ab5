package io.penstock.node.replay;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.flow.KvGroup;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.party.FlowPlan;
import io.penstock.node.party.GroupParties;
import io.penstock.node.replay.report.ModelPayload;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.tiers.DiskPlan;
import io.penstock.node.tiers.TierPlan;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The KV groups of a replay's model, and what each may keep: memory for equally many tokens of every group.
///
/// @param plans of the groups; empty for a model without groups
/// @param sizes of the blocks of each level of each group
record ReplayGroups(List<GroupParties.Plan> plans, Map<String, ModelSize> sizes) {
  /// A model without groups.
  static final ReplayGroups NONE = new ReplayGroups(List.of(), Map.of());

  boolean isEmpty() {
    return plans.isEmpty();
  }

  /// @param groups configuration of each, with the tokens of a block of the trace
  /// @param size of the blocks of the trace, over all groups
  /// @param scale as [Payload#of] takes it
  /// @param kept levels, with capacities in blocks of the trace
  static ReplayGroups of(List<NodeConfig> groups, ModelSize size, @Nullable Long scale, long budget, TierPlan kept) {
    List<GroupParties.Plan> plans = new ArrayList<>();
    Map<String, ModelSize> sizes = new LinkedHashMap<>();
    for (NodeConfig group : groups) {
      String name = group.get(LayoutSettings.GROUP).orElseThrow();
      CacheSpace whole = group.space();
      KvGroup rule = KvGroup.of(whole);
      int step = rule.blockTokens() / size.blockTokens();
      CacheSpace payload = Payload.ofGroup(whole, scale);
      FlowPlan flow = FlowPlan.of(payload, budget / groups.size(), 1);
      TierPlan tiers = of(kept, name, groups.size(), step).withSpace(payload).withWindowBlocks(flow.windowBlocks());
      plans.add(new GroupParties.Plan(name, rule, flow, tiers));
      ModelSize own = new ModelSize(size.model() + " " + name, rule.blockTokens(), whole.layout().blockBytes(),
          size.prefillRate());
      tiers.capacities().keySet().forEach(level -> sizes.put(GroupParties.levelName(level, name), own));
    }
    return new ReplayGroups(plans, sizes);
  }

  private static TierPlan of(TierPlan kept, String name, int groups, int step) {
    DiskPlan disk = kept.disk();
    return kept.withDram(every(kept.dram(), step)).withSsd(every(kept.ssd(), step),
        disk == null ? null : disk.ofSpace(name, 1.0 / groups));
  }

  private static Capacity every(Capacity blocks, int step) {
    return blocks.isOff() || blocks.equals(Capacity.UNBOUNDED)
        ? blocks
        : Capacity.ofBlocks(Math.max(1, blocks.inBlocks(1) / step));
  }

  /// Capacities of the levels of each group, in blocks and in bytes of the model.
  Map<String, String> capacities() {
    Map<String, String> capacities = new LinkedHashMap<>();
    for (GroupParties.Plan plan : plans) {
      plan.tiers().capacities().forEach((level, capacity) -> {
        String of = GroupParties.levelName(level, plan.name());
        ModelSize size = sizes.get(of);
        capacities.put(of, size == null ? capacity : size.words(Capacity.parse(capacity).inBlocks(size.blockBytes())));
      });
    }
    return capacities;
  }

  /// What moves for a block of the trace, over all groups.
  ///
  /// @param blockTokens tokens of a block of the trace
  ModelPayload payload(int blockTokens) {
    double bytes = 0;
    int layers = 0;
    for (GroupParties.Plan plan : plans) {
      BlockLayout layout = plan.flow().space().layout();
      bytes += (double) layout.blockBytes() * blockTokens / plan.rule().blockTokens();
      layers += layout.layers();
    }
    Map<String, Long> modelBytes = new LinkedHashMap<>();
    sizes.forEach((level, size) -> modelBytes.put(level, size.blockBytes()));
    return new ModelPayload(Math.toIntExact(Math.round(bytes)), layers, modelBytes);
  }
}
