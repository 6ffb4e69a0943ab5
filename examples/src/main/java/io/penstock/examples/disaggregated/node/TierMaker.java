package io.penstock.examples.disaggregated.node;

import io.penstock.device.Device;
import io.penstock.device.DeviceTier;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.examples.disaggregated.rank.Shard;
import io.penstock.stack.HostTier;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.EngineKind;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.storage.JournalTier;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Makes the tiers of the ranks of one node. Waits for devices and disks, so never on an event loop.
public final class TierMaker implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final int PAGE_BYTES = 4096;
  private static final long SEGMENT_BYTES = 16 << 20;

  private final TierKind kind;
  private final EngineKind engine;
  private final Path directory;
  private final List<Device> devices = new ArrayList<>();
  private int made;

  /// @param engine of the journals
  /// @param directory of the journals, a folder for each rank
  public TierMaker(TierKind kind, EngineKind engine, Path directory) {
    this.kind = kind;
    this.engine = engine;
    this.directory = directory;
  }

  /// @param blocks most blocks that the rank keeps
  BlockTier make(Shard shard, int blocks) {
    StackOptions options = StackOptions.defaults("rank").withIngressBlocks(blocks).withTransferBlocks(blocks);
    return switch (kind) {
      case HBM -> onDevice(shard, blocks, options);
      case DRAM -> new HostTier(shard.space(), blocks, options, TierListener.noop());
      case SSD -> new JournalTier(journal(shard), blocks, options, TierListener.noop());
    };
  }

  private BlockTier onDevice(Shard shard, int blocks, StackOptions options) {
    long slotBytes = (long) shard.layout().blockBytes() + PAGE_BYTES; // the device rounds up
    Device device = SimulatedDevice.open(SimulatedDeviceOptions.defaults(blocks * slotBytes));
    devices.add(device);
    return DeviceTier.open(device, shard.space(), blocks, options, TierListener.noop()).blockOptional(PATIENCE)
        .orElseThrow();
  }

  private JournalStore journal(Shard shard) {
    Path folder = directory.resolve("rank-" + made++);
    return JournalStore.open(shard.space(),
        JournalOptions.defaults(folder).withEngine(engine).withSegmentBytes(SEGMENT_BYTES).withIoThreads(1));
  }

  @Override
  public void close() {
    devices.forEach(device -> device.close().block(PATIENCE));
  }
}
