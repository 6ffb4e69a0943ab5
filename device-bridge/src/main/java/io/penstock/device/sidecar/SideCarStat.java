package io.penstock.device.sidecar;

/// What a node has of its side-car clients now, and has done for them.
///
/// @param regions mapped
/// @param bytes of these
/// @param copies calls that ended well
/// @param copiedBytes of these
/// @param failedCopies calls that were made and failed
/// @param refused requests that were answered with an error before anything was done
public record SideCarStat(int clients, int regions, long bytes, long copies, long copiedBytes, long failedCopies, long refused) {}
