package io.penstock.examples.disaggregated.node;

import io.penstock.device.Device;
import io.penstock.device.DeviceStore;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.disagg.request.RequestInputs;
import io.penstock.examples.disaggregated.rank.Shard;
import io.penstock.node.tiers.BuiltTiers;
import io.penstock.node.tiers.TierRecording;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.EngineKind;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Makes the tiers of the ranks of one node. Waits for devices and disks, so never on an event loop.
public final class TierMaker implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final int PAGE_BYTES = 4096;
  private static final long SEGMENT_BYTES = 16 << 20;

  private final TierKind kind;
  private final EngineKind engine;
  private final Path directory;
  private final @Nullable TierRecording recording;
  private final List<Device> devices = new ArrayList<>();
  private int made;

  /// @param engine of the journals
  /// @param directory of the journals, a folder for each rank
  /// @param recording of the tiers and of the requests that prefill ranks keep; null for none
  public TierMaker(TierKind kind, EngineKind engine, Path directory, @Nullable TierRecording recording) {
    this.recording = recording;
    this.kind = kind;
    this.engine = engine;
    this.directory = directory;
  }

  /// @param blocks most blocks that the rank keeps
  BlockTier make(Shard shard, int blocks) {
    StackOptions options = StackOptions.defaults("rank").withIngressBlocks(blocks).withTransferBlocks(blocks);
    return switch (kind) {
      case HBM -> onDevice(shard, blocks, options);
      case DRAM -> open(shard, new StackLevel.Host("rank", blocks), options);
      case SSD -> open(shard, new StackLevel.Stored(journal(shard), blocks),
          options.withMode(StackOptions.Mode.WRITE_THROUGH));
    };
  }

  private BlockTier open(Shard shard, StackLevel level, StackOptions options) {
    return BuiltTiers.open(shard.space(), List.of(level), options, TierListener.noop(), recording).tier();
  }

  /// Inputs of the requests that a prefill rank keeps.
  RequestInputs requests(String rank) {
    return recording == null ? RequestInputs.direct() : recording.requests(rank);
  }

  private BlockTier onDevice(Shard shard, int blocks, StackOptions options) {
    long slotBytes = (long) shard.layout().blockBytes() + PAGE_BYTES; // the device rounds up
    Device device = SimulatedDevice.open(SimulatedDeviceOptions.defaults(blocks * slotBytes));
    devices.add(device);
    return DeviceStore.open(device, options.name(), shard.space(), blocks)
        .map(store -> open(shard, new StackLevel.Stored(store, blocks), options)).blockOptional(PATIENCE).orElseThrow();
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
