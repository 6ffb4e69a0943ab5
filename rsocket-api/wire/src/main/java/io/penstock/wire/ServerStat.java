package io.penstock.wire;

import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Figures of a node at one moment: the reply of route `stat`.
///
/// @param tier name of the tier of the space that was asked for
/// @param medium of that tier
/// @param stat of that tier
/// @param inFlightBytes bytes in flight now, in and out
/// @param peakInFlightBytes most bytes ever in flight
/// @param budgetBytes limit on bytes in flight
/// @param outgoingBytes those of `inFlightBytes` that are on their way out; null if the node did not tell
/// @param spaces all spaces of the node; empty if the node did not tell
public record ServerStat(String node, String tier, String medium, TierStat stat, long inFlightBytes,
    long peakInFlightBytes, long budgetBytes, @Nullable Long outgoingBytes, boolean draining,
    List<SpaceStat> spaces) {
  public ServerStat {
    spaces = spaces == null ? List.of() : List.copyOf(spaces); // null from a node that does not tell
  }

  static ServerStat of(String node, TierInfo asked, List<SpaceStat> spaces, NodeBudget budget, boolean draining) {
    String id = asked.space().publicId();
    SpaceStat own = spaces.stream().filter(space -> space.space().equals(id) && space.tier().equals(asked.name()))
        .findFirst().orElseThrow();
    return new ServerStat(node, own.tier(), own.medium(), own.stat(), budget.permits().inUse(),
        budget.permits().peak(), budget.permits().capacity(), budget.outgoingBytes(), draining, spaces);
  }
}
