package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.node.setting.Capacity;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.Medium;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a node keeps.
///
/// @param space of the blocks
/// @param hbm device memory
/// @param device behind `hbm`
/// @param dram host memory
/// @param ssd disk
/// @param disk where the disk's blocks rest; null if `ssd` is off
/// @param mode whether a block is on one level or on all from its own down
/// @param policy who leaves first
/// @param reserveBlocks slots of host memory beyond `dram`, for each purpose: blocks being written, read back, on the
///     move
/// @param windowBlocks most blocks of a window that a stream asks for
/// @param waiters most callers that wait for room
/// @param eventsKept events kept for readers that come later
/// @param tiering where it leaves the textbook policy, for the sake of its disk
/// @param exact whether it decides as the textbook policy does; see [StackOptions#exact]
/// @param holds bounds of read leases and pins
/// @param room of one of several spaces that share `dram`; null if the node has one space
/// @param timesUses whether it remembers when each block was used, as a member of a cluster tells others
public record TierPlan(CacheSpace space, Capacity hbm, DevicePlan device, Capacity dram, Capacity ssd,
    @Nullable DiskPlan disk, StackOptions.Mode mode,
    EvictionPolicy policy, int reserveBlocks, int windowBlocks, int waiters, int eventsKept,
    StackOptions.Tiering tiering, boolean exact, StackOptions.HoldOptions holds, @Nullable SpaceRoom room,
    boolean timesUses) {
  private static final int RESERVE_BLOCKS = 128;
  private static final int WINDOW_BLOCKS = 64;
  private static final int WAITERS = 1024;
  private static final int EVENTS_KEPT = 65_536;

  public TierPlan {
    requireNonNull(space, "space");
    requireNonNull(device, "device");
    requireNonNull(mode, "mode");
    requireNonNull(policy, "policy");
    requireNonNull(tiering, "tiering");
    if (hbm.equals(Capacity.UNBOUNDED)) {
      throw new IllegalArgumentException("hbm must be a size or a number of blocks (was unbounded)");
    }
    if (!ssd.isOff() && disk == null) {
      throw new IllegalArgumentException("ssd needs a folder to be in: ssd.dir must be a folder (was none)");
    }
  }

  /// Host memory alone: LRU, 128 reserve slots, windows of 64 blocks.
  public static TierPlan dram(CacheSpace space, Capacity dram) {
    return new TierPlan(space, Capacity.OFF, DevicePlan.simulated(), dram, Capacity.OFF, null,
        StackOptions.Mode.EXCLUSIVE,
        EvictionPolicy.LRU, RESERVE_BLOCKS, WINDOW_BLOCKS,
        WAITERS, EVENTS_KEPT, StackOptions.Tiering.exact(), true,
        StackOptions.HoldOptions.defaults(), null, false);
  }

  public TierPlan withHbm(Capacity hbm) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withDram(Capacity dram) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withDevice(DevicePlan device) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withExact(boolean exact) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withHolds(StackOptions.HoldOptions holds) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withTimesUses(boolean timesUses) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withSsd(Capacity ssd, @Nullable DiskPlan disk) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withMode(StackOptions.Mode mode) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withPolicy(EvictionPolicy policy) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withReserveBlocks(int reserveBlocks) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withWindowBlocks(int windowBlocks) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withWaiters(int waiters) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withEventsKept(int eventsKept) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withTiering(StackOptions.Tiering tiering) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  /// This plan, if it can be opened.
  ///
  /// @throws IllegalArgumentException if there is no level, or none to write through to
  TierPlan requireStack() {
    if (hbm.isOff() && dram.isOff() && ssd.isOff()) {
      throw new IllegalArgumentException("one of hbm, dram and ssd must be > 0 (all are off)");
    }
    if (ssd.isOff() && mode == StackOptions.Mode.WRITE_THROUGH) {
      throw new IllegalArgumentException(
          "stack.mode write_through needs a disk to write through to: ssd must be > 0 (was off)");
    }
    if (mode == StackOptions.Mode.WRITE_THROUGH) {
      requireLarger("dram", dram, "hbm", hbm);
      requireLarger("ssd", ssd, "dram", dram);
      requireLarger("ssd", ssd, "hbm", hbm);
    }
    return this;
  }

  /// With write-through, each level repeats the blocks of the levels above.
  private void requireLarger(String name, Capacity level, String nameAbove, Capacity above) {
    int blockBytes = space.layout().blockBytes();
    if (!level.isOff() && !above.isOff() && level.inBlocks(blockBytes) <= above.inBlocks(blockBytes)) {
      throw new IllegalArgumentException(
          "%s must be > %s, which it repeats when blocks are written through (was %s and %s)".formatted(name,
              nameAbove, level, above));
    }
  }

  /// Different blocks that all levels together have room for; `Long.MAX_VALUE` without a bound.
  public long distinctBlocks() {
    int blockBytes = space.layout().blockBytes();
    long most = 0;
    for (Capacity level : List.of(hbm, dram, ssd)) {
      long blocks = level.inBlocks(blockBytes);
      most = mode == StackOptions.Mode.WRITE_THROUGH
          ? Math.max(most, blocks)
          : blocks > Long.MAX_VALUE - most ? Long.MAX_VALUE : most + blocks;
    }
    return most;
  }

  /// Policy and, with a disk, its mode and engine: `lru, exclusive, chronicle`.
  public String rule() {
    String leaves = policy.name().toLowerCase(Locale.ROOT);
    return disk == null
        ? leaves
        : "%s, %s, %s".formatted(leaves, mode.name().toLowerCase(Locale.ROOT).replace('_', ' '),
            disk.engine().name().toLowerCase(Locale.ROOT));
  }

  public TierPlan withRoom(SpaceRoom room) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  public TierPlan withSpace(CacheSpace space) {
    return new TierPlan(space, hbm, device, dram, ssd, disk, mode, policy, reserveBlocks, windowBlocks, waiters,
        eventsKept, tiering, exact, holds, room, timesUses);
  }

  /// The level of host memory.
  StackLevel.Host host() {
    SpaceRoom shared = room;
    return shared == null
        ? new StackLevel.Host("dram", dram.inBlocks(space.layout().blockBytes()))
        : new StackLevel.Host("dram", shared.leastBlocks(), shared.share());
  }

  /// Name of the tier: that of its space if there are several, of its only level, or `stack`.
  public String name() {
    SpaceRoom shared = room;
    return shared != null
        ? shared.name()
        : capacities().size() == 1 ? capacities().keySet().iterator().next() : "stack";
  }

  /// Medium of its fastest level.
  public Medium medium() {
    return !hbm.isOff() ? Medium.DEVICE : !dram.isOff() ? Medium.HOST : Medium.DISK;
  }

  /// The capacities of the levels that are on, fastest first, by name.
  public Map<String, String> capacities() {
    Map<String, String> capacities = new LinkedHashMap<>();
    add(capacities, "hbm", hbm);
    add(capacities, "dram", dram);
    add(capacities, "ssd", ssd);
    return capacities;
  }

  private static void add(Map<String, String> capacities, String name, Capacity capacity) {
    if (!capacity.isOff()) {
      capacities.put(name, capacity.toString());
    }
  }
}
