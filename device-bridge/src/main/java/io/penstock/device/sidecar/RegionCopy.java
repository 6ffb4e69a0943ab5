package io.penstock.device.sidecar;

/// One copy between two regions, or inside one. Bounds are the node's to check.
///
/// @param from region that is read
/// @param to region that is written
public record RegionCopy(long from, long fromOffset, long to, long toOffset, long bytes) {
  /// Maximum number of copies in one call.
  public static final int MAX_ELEMENTS = 4096;
}
