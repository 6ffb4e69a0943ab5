package io.penstock.device.sidecar;

/// What the node has of a region.
public enum RegionState {
  UNMAPPED,
  MAPPING,
  MAPPED,
  /// Copies in flight end, no other begins, then it is unmapped.
  CLOSING,
  /// There is no connection to ask.
  UNREACHABLE
}
