package io.penstock.device;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.BlockTierContract;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;

/// The contract of a tier, with every block in device memory and the copies on the device's thread.
final class DeviceTierTest extends BlockTierContract {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  /// Where device 0 puts its first allocation.
  private static final long FIRST_ADDRESS = 0x4000_0000_0001_0000L;
  private static final int STRIDE = 512;
  private static final List<Device> DEVICES = new ArrayList<>();

  @AfterAll
  static void closeDevices() {
    DEVICES.forEach(device -> device.close().block(LIMIT));
    DEVICES.clear();
  }

  @Override
  protected BlockTier openTier(int capacityBlocks) {
    Device device = SimulatedDevice.open(SimulatedDeviceOptions.defaults(1 << 20));
    DEVICES.add(device);
    return requireNonNull(DeviceTier.open(device, space, capacityBlocks, StackOptions.defaults("hbm")
        .withIngressBlocks(capacityBlocks + RESERVE_BLOCKS).withTransferBlocks(16).withPromotionBlocks(2)
        .withBounceBlocks(1)
        .withBatchBlocks(3).withEventLogSize(EVENT_LOG_SIZE), TierListener.noop()).block(LIMIT));
  }

  @Override
  protected boolean answersAtOnce() {
    return false;
  }

  /// Finds the block by its bytes, once all of them have arrived on the device.
  @Override
  protected void corruptStored(BlockTier tier, BlockKey key) {
    awaitAllOnDevice((DeviceTier) tier);
    Device device = DEVICES.getLast();
    int bytes = space.layout().blockBytes();
    int found = 0;
    try (Arena memory = Arena.ofShared()) {
      MemorySegment expected = memory.allocate(bytes);
      Blocks.fill(key, 0, expected);
      for (long at = FIRST_ADDRESS; at < FIRST_ADDRESS + device.allocatedBytes(); at += STRIDE) {
        MemorySegment there = memory.allocate(bytes);
        device.copy(new CopyBatch(CopyDirection.TO_HOST).add(there, at)).block(LIMIT);
        if (there.mismatch(expected) < 0) {
          there.set(JAVA_BYTE, 70, (byte) (there.get(JAVA_BYTE, 70) ^ 1));
          device.copy(new CopyBatch(CopyDirection.TO_DEVICE).add(there, at)).block(LIMIT);
          found++;
        }
      }
    }
    assertThat(found).as("places of the block").isPositive();
  }

  private static void awaitAllOnDevice(DeviceTier tier) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      TierStat stat = requireNonNull(tier.stat().block(LIMIT));
      if (tier.arena().claimedSlots() == 0 && stat.levels().getFirst().storedBlocks() == stat.blocks()) {
        return;
      }
      assertThat(System.nanoTime()).as("until all blocks are on the device").isLessThan(deadline);
      Thread.yield();
    }
  }
}
