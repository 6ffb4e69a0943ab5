package io.penstock.gateway.choice;

/// Where an instance has a block, fastest first.
public enum Medium {
  /// Memory of the device that computes.
  DEVICE,
  /// Memory of its host.
  HOST,
  /// A disk, or a store of another machine.
  STORAGE,
  /// A request with the block was sent to the instance, which has not told yet what became of it.
  EXPECTED;

  /// The part of the time to compute a block that a hit on this medium saves. The first three figures are those of
  /// Dynamo's router (overlap credits of 1.0, 0.75 and 0.25).
  double credit() {
    return switch (this) {
      case DEVICE -> 1.0;
      case HOST -> 0.75;
      case STORAGE -> 0.25;
      case EXPECTED -> 0.9;
    };
  }
}
