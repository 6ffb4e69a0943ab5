package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.device.ascend.AscendOptions;
import io.penstock.device.memory.StagingSpec;
import io.penstock.node.setting.DeviceKind;

/// Device of the blocks of `hbm`.
///
/// @param number of the device in this process, its rank on this host; only of [DeviceKind#ASCEND]
/// @param ascend its options
/// @param staging buffers for copies of host memory that it does not know
public record DevicePlan(DeviceKind kind, int number, AscendOptions ascend, StagingSpec staging) {
  public DevicePlan {
    requireNonNull(kind, "kind");
    requireNonNull(ascend, "ascend");
    requireNonNull(staging, "staging");
    Checks.notNegative("number", number);
  }

  /// Simulated.
  public static DevicePlan simulated() {
    return new DevicePlan(DeviceKind.SIM, 0, AscendOptions.defaults(), StagingSpec.OFF);
  }

  /// A device of the library that `options` name.
  public static DevicePlan ascend(int number, AscendOptions options, StagingSpec staging) {
    return new DevicePlan(DeviceKind.ASCEND, number, options, staging);
  }
}
