package io.penstock.node.admin;

import io.penstock.PenstockVersion;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The answer of `/health`.
///
/// @param state `starting`, `ready` or `draining`
/// @param version of the running code
/// @param tiers figures of each tier that answered
/// @param problem why the node is not healthy although it is ready, else null
public record Health(String state, String version, List<TierFacts> tiers, @Nullable String problem) {
  /// What a probe or a person wants to know of a tier.
  ///
  /// @param capacityBlocks null if unbounded
  public record TierFacts(String name, String medium, long blocks, @Nullable Long capacityBlocks, long bytes, long hits, long misses,
      long evicted, long corrupt) {
    static TierFacts of(TierInfo info, TierStat stat) {
      return new TierFacts(info.name(), lower(info.medium()), stat.blocks(),
          info.capacityBlocks() == Long.MAX_VALUE ? null : (Long) info.capacityBlocks(), stat.bytes(), stat.hits(), stat.misses(),
          stat.evicted(), stat.corrupt());
    }
  }

  static Health of(NodeState state, TierInfo info, TierStat stat) {
    return new Health(lower(state), PenstockVersion.current(), List.of(TierFacts.of(info, stat)), null);
  }

  static Health failed(NodeState state, String problem) {
    return new Health(lower(state), PenstockVersion.current(), List.of(), problem);
  }

  private static String lower(Enum<?> word) {
    return word.name().toLowerCase(Locale.ROOT);
  }

  /// Whether clients should be sent here.
  boolean isUp() {
    return state.equals("ready") && problem == null;
  }
}
