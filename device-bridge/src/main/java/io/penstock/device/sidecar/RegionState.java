package io.penstock.device.sidecar;

/// State of a region at the node.
public enum RegionState {
  UNMAPPED,
  MAPPING,
  MAPPED,
  /// Copies in flight end, no other begins, then it is unmapped.
  CLOSING,
  /// There is no connection to ask.
  UNREACHABLE
}
