package io.penstock.node.device;

/// Direction of the copies of a trial.
enum CopyWay {
  H2D, D2H, D2D, H2H;

  /// The way of an element in a trial of all of them.
  static CopyWay ofMixed(int element) {
    return values()[element % values().length];
  }

  boolean fromDevice() {
    return this == D2H || this == D2D;
  }

  boolean toDevice() {
    return this == H2D || this == D2D;
  }
}
