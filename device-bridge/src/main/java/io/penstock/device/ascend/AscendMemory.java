package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.check.Checks;
import io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException;
import io.penstock.device.DeviceMemory;
import io.penstock.device.SharedName.FabricHandle;
import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.ascend.failure.AclCode;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnavailableException;
import io.penstock.device.memory.HostMemory;
import io.penstock.device.memory.MemoryListener;
import java.util.function.LongSupplier;
import reactor.core.publisher.Mono;

/// Memory that one device gives out, of its own, of others and of the host: got on the device's thread, owned by a
/// scope, and back on the device's thread.
final class AscendMemory {
  private final String device;
  private final long capacityBytes;
  private final AscendThread thread;
  /// Used by the device's thread.
  private final AscendRegions regions;

  /// @param device named in errors
  AscendMemory(String device, long capacityBytes, AscendThread thread, AscendRegions regions) {
    this.device = device;
    this.capacityBytes = capacityBytes;
    this.thread = thread;
    this.regions = regions;
  }

  /// Implements [AscendDevice#allocate].
  Mono<DeviceMemory> allocate(long bytes, BlockScope scope) {
    return held(bytes, scope, () -> allocate(bytes));
  }

  private long allocate(long bytes) {
    try {
      return regions.allocate(bytes);
    } catch (AscendUnavailableException e) {
      if (!AclCode.isOutOfMemory(e.error().code())) {
        throw e;
      }
      throw new DeviceMemoryExhaustedException(device, bytes, Math.max(0, capacityBytes - regions.allocatedBytes()), e);
    }
  }

  /// Implements [AscendDevice#hostMemory].
  Mono<HostMemory> allocateHost(long bytes, BlockScope scope, MemoryListener listener) {
    requireNonNull(scope, "scope");
    Checks.positive("bytes", bytes);
    return thread.submitted(sink -> sink.success(scope.adopt(regions.allocateHost(bytes, listener, this::giveBack))));
  }

  /// Implements [AscendDevice#importShared(IpcKey, long, BlockScope)].
  Mono<DeviceMemory> open(IpcKey key, long bytes, BlockScope scope) {
    return held(bytes, scope, () -> regions.open(key, bytes));
  }

  /// Implements [AscendDevice#importShared(FabricHandle, long, BlockScope)].
  Mono<DeviceMemory> open(FabricHandle handle, long bytes, BlockScope scope) {
    return held(bytes, scope, () -> regions.open(handle, bytes));
  }

  /// Implements [AscendDevice#export(DeviceMemory)].
  Mono<IpcKey> export(DeviceMemory memory) {
    return thread.submitted(sink -> sink.success(regions.export(memory)));
  }

  /// Implements [AscendDevice#export(HostMemory)].
  Mono<FabricHandle> exportToFabric(HostMemory memory) {
    return thread.submitted(sink -> sink.success(regions.exportToFabric(memory.address(), memory)));
  }

  /// Implements [AscendDevice#exportToFabric].
  Mono<FabricHandle> exportToFabric(DeviceMemory memory) {
    return thread.submitted(sink -> sink.success(regions.exportToFabric(memory.address(), memory)));
  }

  /// @param got where the memory begins, on the device's thread
  private Mono<DeviceMemory> held(long bytes, BlockScope scope, LongSupplier got) {
    requireNonNull(scope, "scope");
    Checks.positive("bytes", bytes);
    return thread.submitted(sink -> {
      long address = got.getAsLong();
      sink.success(scope.adopt(new DeviceMemory(address, bytes, () -> giveBack(address))));
    });
  }

  private void giveBack(long address) {
    thread.submitReturn(() -> regions.free(address));
  }
}
