package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.device.DeviceFailure.DeviceClosedException;
import io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException;
import io.penstock.stage.Stage;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The way of blocks into the memory of a device and back, as stages that gather blocks into batches of copies.
///
/// It owns a fixed number of slots on a device that stays the caller's. Safe from any thread; its stages may be used by
/// many streams at a time, each with a batch of its own.
public final class DeviceBridge {
  private final DeviceSlots slots;
  private final BlockCopies copies;
  private final Upload upload;
  private final Download download;

  private DeviceBridge(Device device, DeviceSlots slots, DeviceBridgeOptions options, Scheduler timer) {
    this.slots = slots;
    this.copies = new BlockCopies(device, "device " + device.name(), () -> new DeviceClosedException(device.name()));
    this.upload = new Upload(copies, slots, options.batch(), timer);
    this.download = new Download(copies, options.batch(), timer);
  }

  /// Allocates the slots of a bridge.
  ///
  /// @param timer clock and thread of the delay after which a batch goes out
  /// @return cold; signals [DeviceMemoryExhaustedException]; a cancel gives the memory back
  public static Mono<DeviceBridge> open(Device device, BlockLayout layout, DeviceBridgeOptions options,
      Scheduler timer) {
    requireNonNull(layout, "layout");
    requireNonNull(timer, "timer");
    return DeviceSlots.allocate(device, device.name(), layout, options.slots(), options.maxWaiters())
        .map(slots -> new DeviceBridge(device, slots, options, timer));
  }

  /// Blocks into device memory.
  ///
  /// | | |
  /// |---|---|
  /// | order | that of the source |
  /// | bytes | copied once, verified on the host right before |
  /// | gathers | up to a batch of blocks, for at most the delay |
  /// | waits | in a bounded queue, until all blocks of a batch have slots: a consumer with all slots gets no more |
  /// | backpressure | blocks; up to one batch is pulled and copied ahead of demand |
  /// | ownership | takes over the blocks, closes them when they were copied or failed; the consumer closes its own |
  /// | cancel | leaves the queue; a batch under way holds its memory until it has ended |
  /// | threads | emits on the device's thread |
  /// | signals | [io.penstock.block.BlockCorruptException], errors of [Device#copy], [DeviceClosedException] |
  ///
  /// @param scope owns the blocks emitted
  public Stage<Block, DeviceBlock> upload(BlockScope scope) {
    return upload.into(requireNonNull(scope, "scope"));
  }

  /// Blocks from device memory. Works as [#upload], except that blocks are verified after they have arrived, and wait
  /// for `arena`.
  ///
  /// @param arena of the same layout; a batch is never longer than it has slots
  /// @param scope owns the blocks emitted
  public Stage<DeviceBlock, Block> download(BlockArena arena, BlockScope scope) {
    if (!arena.layout().equals(slots.layout())) {
      throw new IllegalArgumentException(
          "layout of the arena must be " + slots.layout() + " (was " + arena.layout() + ")");
    }
    return download.into(arena, requireNonNull(scope, "scope"));
  }

  /// Whether `block` is in one of its slots.
  boolean has(DeviceBlock block) {
    return block.isOf(slots);
  }

  /// Frees the memory of a bridge that is not used yet.
  void giveUp() {
    slots.close();
  }

  /// Slots that are lent.
  public long claimedSlots() {
    return slots.claimed();
  }

  /// Refuses new copies, fails waiting ones, and completes when the copies under way have ended. The memory goes back
  /// to the device with the last block on it. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      slots.close();
      return copies.close();
    });
  }
}
