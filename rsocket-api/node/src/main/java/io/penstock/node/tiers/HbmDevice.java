package io.penstock.node.tiers;

import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.device.Device;
import io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException;
import io.penstock.device.DeviceStore;
import io.penstock.device.ascend.AscendDevice;
import io.penstock.device.ascend.AscendDevices;
import io.penstock.device.ascend.AscendFeature;
import io.penstock.device.ascend.AscendListener;
import io.penstock.device.memory.HostChunks;
import io.penstock.device.memory.HostMemory;
import io.penstock.device.memory.HostMemoryRefusedException;
import io.penstock.device.memory.HostMemorySource;
import io.penstock.device.memory.MemoryListener;
import io.penstock.device.memory.PageKind;
import io.penstock.device.memory.StagingPool;
import io.penstock.device.memory.StagingSpec;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.text.Sizes;
import java.util.List;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/// The device behind the level `hbm`.
///
/// @param shared whether others may map its memory, and that of the host
/// @param close ends it, and the library under it
record HbmDevice(Device device, boolean shared, Mono<Void> close) {
  private static final long GIB = 1L << 30;

  /// Opens the device of `plan`. Loads a library, so not for an event loop.
  ///
  /// @param memory receives the host memory that it takes
  /// @return cold; signals [UnavailableException] if there is no library, `IllegalArgumentException` if it has no such
  ///     device or memory
  static Mono<HbmDevice> open(DevicePlan plan, MemoryListener memory, AscendListener copies) {
    return switch (plan.kind()) {
      case SIM -> Mono.fromSupplier(() -> of(SimulatedDevice.open(SimulatedDeviceOptions.defaults(Long.MAX_VALUE))));
      case ASCEND -> Mono.defer(() -> {
        AscendDevices devices = AscendDevices.find(plan.ascend(), copies).orElseThrow(() -> absent(plan));
        return Mono.defer(() -> {
          requireShared(plan, devices);
          return devices.open(within(plan.number(), devices.count()));
        }).flatMap(device -> staged(device, plan.staging(), memory)
            .onErrorResume(error -> Endings.after(error, device.close())))
            .map(device -> new HbmDevice(device, plan.ascend().shared(),
                Endings.inOrder(List.of(device.close(), devices.close()))))
            .onErrorResume(error -> Endings.after(error, devices.close()));
      });
    };
  }

  private static void requireShared(DevicePlan plan, AscendDevices devices) {
    List<String> missing = Stream.of(AscendFeature.PHYSICAL_MEMORY, AscendFeature.FABRIC_MEMORY)
        .flatMap(each -> devices.missing(each).stream()).toList();
    if (plan.ascend().shared() && !missing.isEmpty()) {
      throw new IllegalArgumentException("ascend.fabric.memory must be false with a library that has no "
          + String.join(", ", missing) + " (was true)");
    }
  }

  /// The buffers live as long as the device, which takes their memory back.
  private static Mono<AscendDevice> staged(AscendDevice device, StagingSpec spec, MemoryListener listener) {
    return spec.isOff()
        ? Mono.just(device)
        : StagingPool.open("staging of " + device.name(), spec, 1, device.hostMemory(listener))
            .onErrorMap(HostMemoryRefusedException.class, e -> new IllegalArgumentException(
                "ascend.buffer.pool must be what the driver has host memory for (was %s: %s)".formatted(spec,
                    e.getMessage()),
                e))
            .flatMap(device::stage).thenReturn(device);
  }

  private static HbmDevice of(Device device) {
    return new HbmDevice(device, false, device.close());
  }

  private static UnavailableException absent(DevicePlan plan) {
    return new UnavailableException(
        "ascend.lib must be a library of Ascend devices, for hbm.device is ascend (looked for "
            + AscendDevices.lookedFor(plan.ascend()) + ")");
  }

  private static int within(int number, int count) {
    if (number >= count) {
      throw new IllegalArgumentException(
          "ascend.device must be in [0, " + count + "), the devices of this process (was " + number + ")");
    }
    return number;
  }

  /// Gives `chunks` host memory of the driver for all of `arena`, if there is a driver: whole pages of 1 GiB as far as
  /// they reach, then smaller ones. The system provides the rest, unless others must be able to map all of it.
  ///
  /// @param listener receives the memory
  Mono<Void> offerTo(HostChunks chunks, SlabArena arena, MemoryListener listener) {
    if (!(device instanceof AscendDevice ascend)) {
      return Mono.empty();
    }
    HostMemorySource driver = ascend.hostMemory(listener);
    BlockScope taken = new BlockScope(); // closed by the chunks, piece by piece
    long whole = arena.capacityBytes() / GIB * GIB;
    long rest = PageKind.HOST_2M.rounded(arena.capacityBytes() - whole + (whole > 0 ? arena.chunkBytes() : 0));
    if (shared) {
      return (whole > 0 ? driver.allocate(whole, taken).doOnNext(chunks::offer).then() : Mono.<Void>empty())
          .then(driver.allocate(rest, taken).doOnNext(chunks::offer).then())
          .onErrorMap(HostMemoryRefusedException.class, e -> new IllegalArgumentException(
              "ascend.fabric.memory must be false where the driver has not all of the host memory (was true: "
                  + e.getMessage() + ")",
              e));
    }
    return left(driver, whole > 0 ? driver.allocateUpTo(whole, taken) : Mono.empty(), chunks, listener)
        .then(left(driver, driver.allocate(rest, taken), chunks, listener));
  }

  private static Mono<Void> left(HostMemorySource driver, Mono<HostMemory> memory, HostChunks chunks,
      MemoryListener listener) {
    return memory.doOnNext(chunks::offer).then().onErrorResume(HostMemoryRefusedException.class, e -> {
      e.tried().forEach(each -> listener.fellBack(driver.name(), each));
      return Mono.empty();
    });
  }

  /// Number that the machine has for it.
  int physicalId() {
    return device instanceof AscendDevice ascend ? ascend.physicalId() : device.ordinal();
  }

  /// Allocates the level.
  ///
  /// @return cold; signals `IllegalArgumentException` if it does not fit
  Mono<DeviceStore> store(CacheSpace space, int blocks) {
    return DeviceStore.open(device, "hbm", space, blocks).onErrorMap(DeviceMemoryExhaustedException.class,
        e -> new IllegalArgumentException(
            "hbm must be <= what is free on device %s, %s (was %s)".formatted(device.name(),
                Sizes.human(e.freeBytes()), Sizes.human(e.neededBytes())),
            e));
  }
}
