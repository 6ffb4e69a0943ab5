package io.penstock.device;

import io.penstock.block.BlockScope;
import io.penstock.device.DeviceFailure.CopyFailedException;
import io.penstock.device.DeviceFailure.DeviceAddressException;
import io.penstock.device.DeviceFailure.DeviceBusyException;
import io.penstock.device.DeviceFailure.DeviceClosedException;
import io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException;
import io.penstock.tier.TierStat;
import reactor.core.publisher.Mono;

/// An accelerator's memory, and the engine that copies to and from it.
///
/// | | |
/// |---|---|
/// | addresses | opaque numbers that mean something to this device only; never addresses of host memory |
/// | copies | in batches of at most [CopyBatch#MAX_ELEMENTS] elements, one way a batch, unordered inside a batch |
/// | order | batches, allocations and frees run one at a time, in the order of their arrival |
/// | threads | a platform thread of this device does the work and sends the results; slow consumers hop off it |
/// | queue | bounded: a full queue refuses with [DeviceBusyException] |
/// | results | exactly one for accepted work: value, completion, or a typed error, also when the device closes |
/// | cancel | drops the result; the work still runs, and its memory is held until it has ended |
/// | close | waiting work ends with [DeviceClosedException]; then all memory is freed, last allocated first |
///
/// Safe from any thread.
public interface Device {
  /// Number of this device on its host.
  int ordinal();

  /// Short and unique on its host; named in errors and meters.
  String name();

  long capacityBytes();

  /// Bytes allocated and not freed.
  long allocatedBytes();

  /// Allocates `bytes`, zeroed or not.
  ///
  /// @param scope owns the memory from the moment it is allocated
  /// @return cold; signals [DeviceMemoryExhaustedException] if there is not that much
  /// @throws IllegalArgumentException if `bytes` is not positive
  Mono<DeviceMemory> allocate(long bytes, BlockScope scope);

  /// Makes the copies of `batch`, which it takes over at subscription and closes when they have ended.
  ///
  /// | | |
  /// |---|---|
  /// | completes | when every byte has arrived |
  /// | signals | [DeviceAddressException] if an element leaves the memory of this device, before anything was copied |
  /// | | [CopyFailedException] if the device failed; what [CopyBatch#before] threw |
  ///
  /// @return cold, for one subscription
  Mono<Void> copy(CopyBatch batch);

  /// Bounds the copies under way: a caller of many copies takes a turn for each.
  CopyTurns turns();

  /// The copies so far.
  TierStat.Copies copies();

  /// Lazy and idempotent.
  Mono<Void> close();
}
