package io.penstock.node.serve;

import io.penstock.device.memory.MappedOptions;
import io.penstock.node.config.AscendSettings;
import io.penstock.node.config.ClusterSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.Writing;
import io.penstock.node.setting.Capacity;
import io.penstock.node.setting.Setting;
import io.penstock.node.tiers.DevicePlan;
import io.penstock.node.tiers.DiskPlan;
import io.penstock.node.tiers.DiskShare;
import io.penstock.node.tiers.OpenSpaces;
import io.penstock.node.tiers.SpacePlan;
import io.penstock.node.tiers.TierPlan;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.OffloadRule;
import io.penstock.storage.ScrubOptions;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.disk.HealthOptions;
import io.penstock.storage.disk.SyncRule;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.LongStream;

/// What a configuration says about the tiers of a node, their spaces, memory, device and disk.
final class NodePlan {
  private NodePlan() {}

  static TierPlan tiers(NodeConfig config) {
    DiskPlan disk = config.get(NodeSettings.SSD_DIR)
        .map(folder -> new DiskPlan(folder, config.get(NodeSettings.SSD_ENGINE),
            config.get(NodeSettings.SSD_SEGMENT_BYTES), durability(config), scrub(config), share(config),
            HealthOptions.defaults().withStallAfter(config.get(NodeSettings.SSD_STALL_AFTER)),
            new QuarantineBound(config.get(NodeSettings.SSD_QUARANTINE_BYTES),
                config.get(NodeSettings.SSD_QUARANTINE_RECORDS)),
            true))
        .orElse(null);
    return TierPlan.dram(config.space(), config.get(NodeSettings.DRAM)).withHbm(config.get(NodeSettings.HBM))
        .withDevice(device(config))
        .withSsd(config.get(NodeSettings.SSD), disk).withMode(Writing.mode(config))
        .withPolicy(config.get(NodeSettings.POLICY)).withExact(config.get(NodeSettings.EXACT))
        .withHolds(StackOptions.HoldOptions.defaults().withLeaseLife(config.get(NodeSettings.LEASE_LIFE))
            .withSoftPinLife(config.get(NodeSettings.PIN_LIFE))
            .withPinShare(config.get(NodeSettings.PIN_PERCENT) / 100.0)
            .withRoomTimeout(config.get(NodeSettings.ROOM_TIMEOUT)))
        .withReserveBlocks(config.get(NodeSettings.RESERVE_BLOCKS))
        .withWindowBlocks(config.get(NodeSettings.WINDOW_BLOCKS))
        .withWaiters(config.get(NodeSettings.WAITERS)).withEventsKept(config.get(NodeSettings.EVENTS_KEPT))
        .withTiering(tiering(config)).withTimesUses(config.get(ClusterSettings.CLUSTER).isPresent());
  }

  static List<SpacePlan> spaces(NodeConfig config) {
    return config.spaces().stream().map(space -> new SpacePlan(space.name(), space.space(), space.weight(),
        space.quotaBytes().orElse(Long.MAX_VALUE), space.ssdQuotaBytes().orElse(Long.MAX_VALUE))).toList();
  }

  static OpenSpaces open(NodeConfig config) {
    return config.get(NodeSettings.SPACES_OPEN)
        ? new OpenSpaces(config.get(NodeSettings.SPACES_OPEN_MOST), config.get(NodeSettings.SPACES_OPEN_PERCENT))
        : OpenSpaces.NONE;
  }

  static MappedOptions memory(NodeConfig config) {
    return new MappedOptions(config.get(NodeSettings.MEMORY_PAGES), config.get(NodeSettings.MEMORY_LOCK),
        config.get(NodeSettings.MEMORY_NUMA).map(OptionalInt::of).orElse(OptionalInt.empty()));
  }

  private static DevicePlan device(NodeConfig config) {
    return new DevicePlan(config.get(NodeSettings.HBM_DEVICE), config.get(AscendSettings.DEVICE),
        AscendSettings.options(config),
        config.get(AscendSettings.BUFFER_POOL));
  }

  private static DiskShare share(NodeConfig config) {
    return new DiskShare(config.get(NodeSettings.SSD_CAPACITY), config.get(NodeSettings.SSD_CACHE),
        config.get(NodeSettings.SSD_KEEP_FREE),
        config.get(NodeSettings.SSD_DISK_HIGH), config.get(NodeSettings.SSD_DISK_LOW));
  }

  private static StackOptions.Tiering tiering(NodeConfig config) {
    return new StackOptions.Tiering(OffloadRule.usedAtLeast(Writing.offloadUses(config)),
        config.get(NodeSettings.SSD_PROMOTE_HITS),
        config.get(NodeSettings.SSD_PREFETCH_BLOCKS), config.get(NodeSettings.SSD_QUEUE_BLOCKS),
        config.get(NodeSettings.SSD_QUEUE_BYTES), Writing.memoryHigh(config), Writing.memoryLow(config));
  }

  private static SyncRule durability(NodeConfig config) {
    return new SyncRule(config.get(NodeSettings.SSD_DURABILITY), config.get(NodeSettings.SSD_SYNC_INTERVAL),
        config.get(NodeSettings.SSD_SYNC_BYTES));
  }

  private static ScrubOptions scrub(NodeConfig config) {
    return new ScrubOptions(config.get(NodeSettings.SSD_SCRUB_RATE), config.get(NodeSettings.SSD_SCRUB_PASS));
  }

  /// Most bytes of blocks on all levels, where each has blocks of its own; of the largest level else.
  /// `Long.MAX_VALUE` if one is unbounded.
  static long capacityBytes(NodeConfig config) {
    LongStream levels = List.of(NodeSettings.HBM, NodeSettings.DRAM, NodeSettings.SSD).stream()
        .mapToLong(level -> bytes(config, level));
    return Writing.mode(config) == StackOptions.Mode.WRITE_THROUGH
        ? levels.max().orElseThrow()
        : levels.reduce(0, (one, other) -> one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other);
  }

  private static long bytes(NodeConfig config, Setting<Capacity> level) {
    Capacity capacity = config.get(level);
    return capacity instanceof Capacity.Blocks some
        ? Math.multiplyExact(some.blocks(), (long) config.layout().blockBytes())
        : capacity.inBlocks(1);
  }
}
