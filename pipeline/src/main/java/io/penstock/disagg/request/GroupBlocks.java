package io.penstock.disagg.request;

import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// Some blocks of a request, by KV group and position in the request. Immutable.
public final class GroupBlocks {
  private static final GroupBlocks NONE = new GroupBlocks(List.of());

  private final List<BitSet> groups;

  private GroupBlocks(List<BitSet> groups) {
    this.groups = groups;
  }

  /// No block.
  public static GroupBlocks none() {
    return NONE;
  }

  /// Blocks `from … to - 1` of the only group.
  public static GroupBlocks range(int from, int to) {
    BitSet positions = new BitSet(to);
    positions.set(from, to);
    return of(List.of(positions));
  }

  /// @param groups positions of each group
  public static GroupBlocks of(List<BitSet> groups) {
    return new GroupBlocks(groups.stream().map(each -> (BitSet) each.clone()).toList());
  }

  /// Groups that may have blocks.
  public int groups() {
    return groups.size();
  }

  /// Positions of `group` in ascending order.
  public int[] positions(int group) {
    Checks.notNegative("group", group);
    return group < groups.size() ? groups.get(group).stream().toArray() : new int[0];
  }

  /// Whether there is no block.
  public boolean isEmpty() {
    return groups.stream().allMatch(BitSet::isEmpty);
  }

  /// Number of blocks in all groups.
  public int count() {
    return groups.stream().mapToInt(BitSet::cardinality).sum();
  }

  /// These and `other`.
  public GroupBlocks and(GroupBlocks other) {
    List<BitSet> all = new ArrayList<>();
    for (int group = 0; group < Math.max(groups(), other.groups()); group++) {
      BitSet both = new BitSet();
      if (group < groups()) {
        both.or(groups.get(group));
      }
      if (group < other.groups()) {
        both.or(other.groups.get(group));
      }
      all.add(both);
    }
    return new GroupBlocks(all);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof GroupBlocks blocks && groups.equals(blocks.groups);
  }

  @Override
  public int hashCode() {
    return groups.hashCode();
  }

  @Override
  public String toString() {
    return groups.toString();
  }
}
