package io.penstock.wire;

import io.penstock.tier.TierStat;

/// Figures of a node at one moment: the reply of route `stat`.
///
/// @param tier name of the tier served
/// @param inFlightBytes ingress bytes in flight now
/// @param peakInFlightBytes most ingress bytes ever in flight
/// @param budgetBytes limit on ingress bytes in flight
public record ServerStat(String node, String tier, String medium, TierStat stat, long inFlightBytes,
    long peakInFlightBytes,
    long budgetBytes, boolean draining) {}
