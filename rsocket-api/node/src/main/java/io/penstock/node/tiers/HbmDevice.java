package io.penstock.node.tiers;

import io.penstock.block.CacheSpace;
import io.penstock.device.Device;
import io.penstock.device.DeviceMemoryExhaustedException;
import io.penstock.device.DeviceStore;
import io.penstock.device.ascend.AscendDevice;
import io.penstock.device.ascend.AscendDevices;
import io.penstock.device.ascend.AscendListener;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.Sizes;
import java.util.List;
import reactor.core.publisher.Mono;

/// The device behind the level `hbm`.
///
/// @param close ends it, and the library under it
record HbmDevice(Device device, Mono<Void> close) {
  /// Opens what `plan` says. Loads a library, so not for an event loop.
  ///
  /// @return cold; signals [UnavailableException] if there is no library, `IllegalArgumentException` if it has no such device
  static Mono<HbmDevice> open(DevicePlan plan, AscendListener copies) {
    return switch (plan.kind()) {
      case SIM -> Mono.fromSupplier(() -> of(SimulatedDevice.open(SimulatedDeviceOptions.defaults(Long.MAX_VALUE))));
      case ASCEND -> Mono.defer(() -> {
        AscendDevices devices = AscendDevices.find(plan.ascend(), copies).orElseThrow(() -> absent(plan));
        return Mono.defer(() -> devices.open(within(plan.number(), devices.count())))
            .map(device -> new HbmDevice(device, Endings.inOrder(List.of(device.close(), devices.close()))))
            .onErrorResume(error -> Endings.after(error, devices.close()));
      });
    };
  }

  private static HbmDevice of(Device device) {
    return new HbmDevice(device, device.close());
  }

  private static UnavailableException absent(DevicePlan plan) {
    return new UnavailableException("ascend.lib must be a library of Ascend devices, for hbm.device is ascend (looked for "
        + AscendDevices.lookedFor(plan.ascend()) + ")");
  }

  private static int within(int number, int count) {
    if (number >= count) {
      throw new IllegalArgumentException("ascend.device must be in [0, " + count + "), the devices of this process (was " + number + ")");
    }
    return number;
  }

  /// Number that the machine has for it.
  int physicalId() {
    return device instanceof AscendDevice ascend ? ascend.physicalId() : device.ordinal();
  }

  /// Allocates the level.
  ///
  /// @return cold; signals `IllegalArgumentException` if it does not fit
  Mono<DeviceStore> store(CacheSpace space, int blocks) {
    return DeviceStore.open(device, "hbm", space, blocks).onErrorMap(DeviceMemoryExhaustedException.class, e ->
        new IllegalArgumentException("hbm must be <= what is free on device %s, %s (was %s)".formatted(device.name(),
            Sizes.human(e.freeBytes()), Sizes.human(e.neededBytes())), e));
  }
}
