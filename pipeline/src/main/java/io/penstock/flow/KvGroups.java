package io.penstock.flow;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/// The groups of a model: from which positions all of them can continue.
///
/// @param groups at least one
public record KvGroups(List<KvGroup> groups) {
  public KvGroups {
    groups = List.copyOf(groups);
    if (groups.isEmpty()) {
      throw new IllegalArgumentException("groups must be at least one (was none)");
    }
  }

  /// The tokens after which a load may end: the least common multiple of the blocks of all groups.
  public int granularity() {
    return groups.stream().mapToInt(KvGroup::blockTokens).reduce(1, KvGroups::lcm);
  }

  private static int lcm(int a, int b) {
    int gcd = BigInteger.valueOf(a).gcd(BigInteger.valueOf(b)).intValueExact();
    return Math.multiplyExact(a / gcd, b);
  }

  /// Blocks that every rank has: a block cannot be loaded if one rank lacks its part.
  ///
  /// @param ranks the blocks that each rank has; at least one rank
  public static BitSet onAll(List<BitSet> ranks) {
    BitSet all = (BitSet) ranks.getFirst().clone();
    ranks.forEach(all::and);
    return all;
  }

  /// The positions from which one group can continue.
  ///
  /// @param granule a multiple of the block of `group`
  /// @param most no position beyond it
  /// @param present which blocks of the group are there, on all ranks
  public static List<Integer> positions(KvGroup group, int granule, int most, BitSet present) {
    List<Integer> positions = new ArrayList<>();
    long last = Math.min(most, (long) present.length() * group.blockTokens());
    for (int tokens = granule; tokens <= last; tokens += granule) {
      if (group.fits(tokens, granule, present)) {
        positions.add(tokens);
      }
    }
    return positions;
  }

  /// The largest position in all lists; 0 if there is none.
  public static int common(List<List<Integer>> positions) {
    return positions.isEmpty()
        ? 0
        : positions.getFirst().stream().filter(one -> positions.stream().allMatch(all -> all.contains(one)))
            .max(Comparator.naturalOrder()).orElse(0);
  }

  /// The tokens of a request that can be loaded: the largest position from which every group can continue. Each group
  /// in turn lowers the position to one that suits it, until a round changes nothing.
  ///
  /// @param tokens of the request
  /// @param present for each group its blocks that are there, on all ranks
  public int hit(int tokens, List<BitSet> present) {
    if (present.size() != groups.size()) {
      throw new IllegalArgumentException(
          "present must be one for each of %d groups (was %d)".formatted(groups.size(), present.size()));
    }
    int granule = granularity();
    int position = tokens / granule * granule;
    int before;
    do {
      before = position;
      for (int i = 0; i < groups.size(); i++) {
        position = lowered(groups.get(i), granule, position, present.get(i));
      }
    } while (position < before);
    return position;
  }

  private static int lowered(KvGroup group, int granule, int from, BitSet present) {
    int position = group.bound(from, granule, present);
    while (position > 0 && !group.fits(position, granule, present)) {
      position -= granule;
    }
    return position;
  }
}
