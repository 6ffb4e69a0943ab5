package io.penstock.device.memory;

/// Figures of a [DevicePool].
///
/// @param lent handles that are open
/// @param lentBytes what they take, rounded
/// @param peakLentBytes most that they ever took
/// @param cachedBytes kept for reuse
/// @param hits allocations that were kept memory
/// @param misses allocations that the device was asked for
/// @param trimmedBytes what the device got back before the close
public record DevicePoolStat(long lent, long lentBytes, long peakLentBytes, long cachedBytes, long hits, long misses,
    long trimmedBytes) {}
