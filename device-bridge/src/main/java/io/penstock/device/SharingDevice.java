package io.penstock.device;

import io.penstock.block.BlockScope;
import io.penstock.device.SharedName.IpcKey;
import reactor.core.publisher.Mono;

/// A device whose memory other processes of this machine reach by a key.
public interface SharingDevice extends Device {
  /// A key by which other processes of this machine reach `memory`, one of this device's allocations; the same each
  /// time. It ends with the memory, which must be closed after they have closed theirs.
  ///
  /// @return cold; signals what the device answers if it cannot share
  Mono<IpcKey> export(DeviceMemory memory);

  /// Imports memory of this device that was exported; copies reach it as they reach memory allocated here.
  ///
  /// @param bytes length of the memory, which no key tells
  /// @param scope owns the mapping; closing it does not free the exporter's memory
  /// @return cold; signals what the device answers if it has no such memory
  Mono<DeviceMemory> importShared(IpcKey key, long bytes, BlockScope scope);
}
