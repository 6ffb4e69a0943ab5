package io.penstock.node.replay;

import io.penstock.node.config.AscendSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.device.LibraryOption;
import io.penstock.node.setting.DeviceKind;
import io.penstock.node.tiers.DevicePlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// The options of a replay that say which device is behind `hbm`.
final class DeviceFlags {
  @Option(names = "--hbm-device", paramLabel = "NAME",
      description = "Kind of device memory: sim, in memory of the host, or ascend, a device of a "
          + "libascendcl.so (default: sim).")
  private @Nullable String kind;

  @Mixin
  private final LibraryOption library;

  @Option(names = "--ascend-device", paramLabel = "N",
      description = "Number of the Ascend device in this process (default: 0).")
  private @Nullable Integer number;

  DeviceFlags(Map<String, String> environment) {
    this.library = new LibraryOption(environment);
  }

  /// @throws IllegalArgumentException if the options, or they and the environment, do not fit together
  DevicePlan plan() {
    DeviceKind wanted =
        kind == null ? DeviceKind.SIM : TierFlags.oneOf("--hbm-device", kind, List.of(DeviceKind.values()));
    if (wanted == DeviceKind.SIM) {
      requireNoneOfAscend("without --hbm-device ascend");
      return DevicePlan.simulated();
    }
    NodeConfig config = library.config(number == null ? Map.of() : Map.of(AscendSettings.DEVICE, number.toString()));
    return DevicePlan.ascend(config.get(AscendSettings.DEVICE), AscendSettings.options(config),
        config.get(AscendSettings.BUFFER_POOL));
  }

  /// Arguments of `penstock serve` for this plan.
  static List<String> arguments(DevicePlan plan) {
    List<String> arguments = new ArrayList<>(
        List.of("--hbm-device", TierFlags.lower(plan.kind()), "--ascend-device", String.valueOf(plan.number())));
    plan.ascend().library().ifPresent(path -> arguments.addAll(List.of(LibraryOption.FLAG, path)));
    return arguments;
  }

  /// @throws IllegalArgumentException if any of these options was given
  void requireNone(String when) {
    TierFlags.requireLeftOut("--hbm-device", kind, when);
    requireNoneOfAscend(when);
  }

  private void requireNoneOfAscend(String when) {
    TierFlags.requireLeftOut(LibraryOption.FLAG, library.path(), when);
    TierFlags.requireLeftOut("--ascend-device", number, when);
  }
}
