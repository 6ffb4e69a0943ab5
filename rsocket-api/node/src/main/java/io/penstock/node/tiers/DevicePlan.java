package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.device.ascend.AscendOptions;
import io.penstock.node.config.DeviceKind;

/// On which device the blocks of `hbm` are.
///
/// @param number of the device in this process, its rank on this host; only of [DeviceKind#ASCEND]
/// @param ascend how that is used
public record DevicePlan(DeviceKind kind, int number, AscendOptions ascend) {
  public DevicePlan {
    requireNonNull(kind, "kind");
    requireNonNull(ascend, "ascend");
    if (number < 0) {
      throw new IllegalArgumentException("number must be >= 0 (was " + number + ")");
    }
  }

  /// Simulated.
  public static DevicePlan simulated() {
    return new DevicePlan(DeviceKind.SIM, 0, AscendOptions.defaults());
  }

  /// A device of the library that `options` name.
  public static DevicePlan ascend(int number, AscendOptions options) {
    return new DevicePlan(DeviceKind.ASCEND, number, options);
  }
}
