package io.penstock.device;

import io.penstock.block.BlockArena;
import io.penstock.block.CacheSpace;
import io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ForwardingTier;
import java.util.List;
import reactor.core.publisher.Mono;

/// Blocks in the memory of a device (HBM), with an exact eviction policy: a [TierStack] of one [DeviceStore].
///
/// Writes and reads pass through host memory, in the slots of the [StackOptions].
public final class DeviceTier extends ForwardingTier {
  private final TierStack stack;

  private DeviceTier(TierStack stack) {
    super(stack);
    this.stack = stack;
  }

  /// Allocates the memory of a tier.
  ///
  /// @param device stays the caller's; closed after the tier
  /// @param options names the tier and its store, for instance `hbm`
  /// @return cold; signals [DeviceMemoryExhaustedException]
  public static Mono<DeviceTier> open(Device device, CacheSpace space, int capacityBlocks, StackOptions options,
      TierListener listener) {
    return DeviceStore.open(device, options.name(), space, capacityBlocks)
        .map(store -> new DeviceTier(
            new TierStack(space, List.of(new StackLevel.Stored(store, capacityBlocks)), options, listener)));
  }

  /// The host memory that blocks pass through, for gauges.
  public BlockArena arena() {
    return stack.arena();
  }
}
