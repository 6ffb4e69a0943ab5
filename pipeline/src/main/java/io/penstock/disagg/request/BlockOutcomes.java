package io.penstock.disagg.request;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Outcomes of all blocks that a request was to receive, for every KV group.
///
/// @param groups of each group: the outcome by position in the request
public record BlockOutcomes(List<Map<Integer, BlockOutcome>> groups) {
  public BlockOutcomes {
    groups = groups.stream().map(each -> Map.copyOf(each)).toList();
  }

  /// Outcome of one block that the request was to receive.
  public BlockOutcome of(int group, int position) {
    BlockOutcome outcome = groups.get(group).get(position);
    if (outcome == null) {
      throw new IllegalArgumentException("block must be one to receive (was group " + group + ", " + position + ")");
    }
    return outcome;
  }

  /// Positions of `group` whose blocks did not arrive, in ascending order: the engine must not read them.
  public List<Integer> invalid(int group) {
    return groups.get(group).entrySet().stream().filter(each -> each.getValue() != BlockOutcome.HIT)
        .map(Map.Entry::getKey).sorted().toList();
  }

  /// Number of tokens from the start of the prompt that every group has: an engine that recomputes continues from
  /// there.
  ///
  /// @param blockTokens tokens of a block of each group
  /// @param promptTokens the answer when all blocks arrived
  public int validTokens(List<Integer> blockTokens, int promptTokens) {
    int valid = promptTokens;
    for (int group = 0; group < groups.size(); group++) {
      List<Integer> invalid = invalid(group);
      valid = invalid.isEmpty() ? valid : Math.min(valid, invalid.getFirst() * blockTokens.get(group));
    }
    return valid;
  }

  /// Number of blocks with each outcome.
  public Map<BlockOutcome, Integer> counts() {
    Map<BlockOutcome, Integer> counts = new EnumMap<>(BlockOutcome.class);
    groups.forEach(each -> each.values().forEach(outcome -> counts.merge(outcome, 1, Integer::sum)));
    return counts;
  }

  /// Collects outcomes while shards end; a block has the worst outcome of its shards.
  static final class Tally {
    private final List<Map<Integer, BlockOutcome>> groups = new ArrayList<>();

    /// Adds `outcome` for all `blocks`.
    void add(GroupBlocks blocks, BlockOutcome outcome) {
      for (int group = 0; group < blocks.groups(); group++) {
        for (int position : blocks.positions(group)) {
          add(group, position, outcome);
        }
      }
    }

    void add(int group, int position, BlockOutcome outcome) {
      while (groups.size() <= group) {
        groups.add(new TreeMap<>());
      }
      groups.get(group).merge(position, outcome, BlockOutcome::worse);
    }

    /// Adds the outcomes of some blocks of a shard.
    void add(BlockOutcomes some) {
      for (int group = 0; group < some.groups().size(); group++) {
        int its = group;
        some.groups().get(group).forEach((position, outcome) -> add(its, position, outcome));
      }
    }

    BlockOutcomes outcomes() {
      return new BlockOutcomes(List.copyOf(groups));
    }
  }
}
