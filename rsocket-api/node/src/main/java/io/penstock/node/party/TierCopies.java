package io.penstock.node.party;

import io.penstock.tier.TierStat;

/// The copies of a tier to and from the device that its blocks are on.
///
/// @param device its name
/// @param calls of the device's library, or batches of the simulated one
/// @param elementsPerCall copies that one of them made
/// @param fallbacks calls for many copies that the library does not make: each was made by a call of its own
/// @param failed copies that were not made, or whose outcome is unknown
public record TierCopies(String device, long calls, double elementsPerCall, long bytes, long fallbacks, long failed) {
  static TierCopies of(TierStat.Copies stat) {
    return new TierCopies(stat.device(), stat.calls(),
        Math.round(100.0 * stat.elements() / Math.max(1, stat.calls())) / 100.0, stat.bytes(),
        stat.fallbacks(), stat.failed());
  }
}
