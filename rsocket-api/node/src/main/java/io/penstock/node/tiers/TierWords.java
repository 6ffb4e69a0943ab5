package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.node.setting.Capacity;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.spi.BlockStore;
import io.penstock.wire.protocol.Handshake;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a recording says of a tier: enough to open it again, on stores that the recording drives.
///
/// @param name of the tier
/// @param space of its blocks, without its salt
/// @param standIn salt in the place of the space's own, which is secret; absent for none
/// @param dramBlocks 0 for none; `Long.MAX_VALUE` without a bound
/// @param ssdBlocks blocks of the level on disk; 0 for none
/// @param stores fastest first
/// @param preparedBytes of its memory that were there before its first use; absent for none
/// @param room in memory that several spaces share; absent if this tier has its own
record TierWords(String name, Handshake.Space space,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String standIn,
    long dramBlocks, long ssdBlocks, StackOptions.Mode mode, EvictionPolicy policy, int reserveBlocks, int windowBlocks,
    int waiters, int eventsKept, boolean exact,
    Rules tiering, Bounds holds, List<Store> stores,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Long preparedBytes,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Room room) {
  /// A store under the tier.
  record Store(String name, Medium medium, Durability durability, long capacityBlocks) {}

  /// Where the tier leaves its policy.
  record Rules(int uses, int promoteAtHit, int prefetchBlocks, long queueBlocks, long queueBytes, double memoryHigh,
      double memoryLow) {}

  /// Bounds of leases and pins; times in milliseconds.
  record Bounds(long leaseLife, long mostLeaseLife, int leasesPerParty, long softPinLife, long mostSoftPinLife,
      double pinShare, long putPatience, long putLife, long roomTimeout) {}

  /// The tier's part of memory that spaces share.
  record Room(String name, long leastBlocks, long totalBytes, List<SpaceRoom.Part> parts) {}

  static TierWords of(TierPlan plan, List<BlockStore> stores) {
    return of(plan, stores, "", 0);
  }

  /// `space` with another salt.
  static CacheSpace named(CacheSpace space, String salt) {
    return Handshake.Space.of(space).with(salt);
  }

  /// @param standIn salt in the place of the plan's own; empty for none
  static TierWords of(TierPlan plan, List<BlockStore> stores, String standIn, long preparedBytes) {
    StackOptions.Tiering tiering = plan.tiering();
    StackOptions.HoldOptions holds = plan.holds();
    int uses = tiering.offload() instanceof StackOptions.OffloadRule.UsedAtLeast least ? least.uses() : 0;
    int blockBytes = plan.space().layout().blockBytes();
    SpaceRoom room = plan.room();
    CacheSpace shown = standIn.isEmpty() ? plan.space() : named(plan.space(), standIn);
    return new TierWords(plan.name(), Handshake.Space.of(shown), standIn.isEmpty() ? null : standIn,
        plan.dram().isOff() ? 0 : plan.dram().inBlocks(blockBytes),
        plan.ssd().isOff() ? 0 : plan.ssd().inBlocks(blockBytes), plan.mode(), plan.policy(), plan.reserveBlocks(),
        plan.windowBlocks(), plan.waiters(), plan.eventsKept(), plan.exact(),
        new Rules(uses, tiering.promoteAtHit(), tiering.prefetchBlocks(), tiering.queueBlocks(), tiering.queueBytes(),
            tiering.memoryHigh(), tiering.memoryLow()),
        new Bounds(holds.leaseLife().toMillis(), holds.mostLeaseLife().toMillis(), holds.leasesPerParty(),
            holds.softPinLife().toMillis(), holds.mostSoftPinLife().toMillis(), holds.pinShare(),
            holds.putPatience().toMillis(), holds.putLife().toMillis(), holds.roomTimeout().toMillis()),
        stores.stream()
            .map(store -> new Store(store.name(), store.medium(), store.durability(), store.capacityBlocks()))
            .toList(),
        preparedBytes == 0 ? null : preparedBytes,
        room == null ? null : new Room(room.name(), room.leastBlocks(), room.totalBytes(), room.parts()));
  }

  /// These words of a tier that is changed.
  TierWords with(TierChange change) {
    int blockBytes = cacheSpace().layout().blockBytes();
    List<Store> changed = new ArrayList<>(stores);
    Capacity hbm = change.hbm();
    if (hbm != null) {
      changed.removeIf(store -> store.medium() == Medium.DEVICE);
      if (!hbm.isOff()) {
        changed.addFirst(new Store("hbm", Medium.DEVICE, Durability.VOLATILE, hbm.inBlocks(blockBytes)));
      }
    }
    Capacity ssd = change.ssd();
    if (ssd != null && ssd.isOff()) {
      changed.removeIf(store -> store.medium() == Medium.DISK);
    } else if (ssd != null && stores.stream().noneMatch(store -> store.medium() == Medium.DISK)) {
      changed.addLast(new Store("ssd", Medium.DISK, Durability.WRITTEN, Long.MAX_VALUE));
    }
    EvictionPolicy changedPolicy = change.policy();
    Capacity dram = change.dram();
    return new TierWords(name, space, standIn, dram == null ? dramBlocks : dram.inBlocks(blockBytes),
        ssd == null ? ssdBlocks : ssd.inBlocks(blockBytes), mode, changedPolicy == null ? policy : changedPolicy,
        reserveBlocks, windowBlocks, waiters, eventsKept, exact, tiering, holds, List.copyOf(changed),
        preparedBytes, room);
  }

  CacheSpace cacheSpace() {
    return requireNonNull(space, "space").with(standIn == null ? "" : standIn);
  }

  List<PlayedStoreSpec> specs() {
    CacheSpace of = cacheSpace();
    return stores.stream().map(store -> new PlayedStoreSpec(store.name(), store.medium(), of, store.durability(),
        store.capacityBlocks())).toList();
  }

  /// The plan without its device and disk, whose stores the recording drives.
  TierPlan plan() {
    return TierPlan.dram(cacheSpace(), dramBlocks == Long.MAX_VALUE
        ? Capacity.UNBOUNDED
        : Capacity.ofBlocks(dramBlocks)).withMode(mode).withPolicy(policy).withReserveBlocks(reserveBlocks)
        .withWindowBlocks(windowBlocks).withWaiters(waiters).withEventsKept(eventsKept).withExact(exact)
        .withTiering(new StackOptions.Tiering(StackOptions.OffloadRule.usedAtLeast(tiering.uses()),
            tiering.promoteAtHit(), tiering.prefetchBlocks(), tiering.queueBlocks(), tiering.queueBytes(),
            tiering.memoryHigh(), tiering.memoryLow()))
        .withHolds(new StackOptions.HoldOptions(millis(holds.leaseLife()), millis(holds.mostLeaseLife()),
            holds.leasesPerParty(), millis(holds.softPinLife()), millis(holds.mostSoftPinLife()), holds.pinShare(),
            millis(holds.putPatience()), millis(holds.putLife()), millis(holds.roomTimeout())));
  }

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }
}
