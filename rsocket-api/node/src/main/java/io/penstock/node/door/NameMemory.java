package io.penstock.node.door;

import io.penstock.check.Checks;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.NodeConfig;

/// What the names of the values of a space may cost.
///
/// @param bytes of memory, roughly
/// @param bytesPerSecond that are read to find them again after a start
record NameMemory(long bytes, long bytesPerSecond) {
  private static final int HEAP_SHARE = 8;

  NameMemory {
    Checks.positive("bytes", bytes);
    Checks.positive("bytesPerSecond", bytesPerSecond);
  }

  static NameMemory of(NodeConfig config) {
    long bytes = config.get(DoorSettings.NAMES);
    return new NameMemory(bytes == 0 ? Runtime.getRuntime().maxMemory() / HEAP_SHARE : bytes,
        config.get(DoorSettings.NAMES_RATE));
  }
}
