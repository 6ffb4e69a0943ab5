package io.penstock.wire;

import io.penstock.tier.TierStat;
import org.jspecify.annotations.Nullable;

/// Figures of a node at one moment: the reply of route `stat`.
///
/// @param tier name of the tier served
/// @param inFlightBytes bytes in flight now, in and out
/// @param peakInFlightBytes most bytes ever in flight
/// @param budgetBytes limit on bytes in flight
/// @param outgoingBytes those of `inFlightBytes` that are on their way out; null if the node did not tell
public record ServerStat(String node, String tier, String medium, TierStat stat, long inFlightBytes,
    long peakInFlightBytes,
    long budgetBytes, @Nullable Long outgoingBytes, boolean draining) {}
