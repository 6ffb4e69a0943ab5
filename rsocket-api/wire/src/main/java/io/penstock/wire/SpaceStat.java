package io.penstock.wire;

import static io.penstock.wire.Fields.present;

import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;

/// Figures of one space of a node.
///
/// @param tier name of its tier
/// @param space id, in hex; empty for a space with a salt, whose id is secret
/// @param stat figures of its tier
public record SpaceStat(String tier, String medium, String space, String model, long blockBytes, TierStat stat) {
  public SpaceStat {
    present("spaces.stat", stat);
  }

  static SpaceStat of(TierInfo info, TierStat stat) {
    return new SpaceStat(info.name(), info.medium().name(), info.space().publicId(), info.space().model(),
        info.space().layout().blockBytes(), stat);
  }
}
