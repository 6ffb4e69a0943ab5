package io.penstock.device.sidecar;

/// What the node has of a region.
public enum RegionState {
  UNMAPPED,
  MAPPING,
  MAPPED,
  /// Copies in flight end, no other begins, then it is unmapped.
  CLOSING,
  /// Nobody can be asked now.
  UNREACHABLE
}
