package io.penstock.wire.client;

import io.penstock.tier.TierStat;
import io.penstock.wire.protocol.StatMessages;

/// Figures of one space of a node.
///
/// @param tier name of its tier
/// @param space id, in hex; empty for a space with a salt, whose id is secret
/// @param stat figures of its tier
public record SpaceStat(String tier, String medium, String space, String model, long blockBytes, TierStat stat) {
  static SpaceStat of(StatMessages.SpaceFigures told) {
    return new SpaceStat(told.tier(), told.medium(), told.space(), told.model(), told.blockBytes(),
        told.stat().stat());
  }
}
