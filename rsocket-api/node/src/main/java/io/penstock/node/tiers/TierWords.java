package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.node.setting.Capacity;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.spi.BlockStore;
import io.penstock.wire.protocol.Handshake;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
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
/// @param slots of a stack that was built from levels; absent if they follow from the plan of a node
record TierWords(String name, Handshake.Space space,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String standIn,
    long dramBlocks, long ssdBlocks, StackOptions.Mode mode, EvictionPolicy policy, int reserveBlocks, int windowBlocks,
    int waiters, int eventsKept, boolean exact,
    Rules tiering, Bounds holds, List<Store> stores,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Long preparedBytes,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Room room,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Slots slots) {
  /// A store under the tier.
  record Store(String name, Medium medium, Durability durability, long capacityBlocks) {}

  /// Where the tier leaves its policy.
  record Rules(int uses, int promoteAtHit, int prefetchBlocks, long queueBlocks, long queueBytes, double memoryHigh,
      double memoryLow) {
    static Rules of(StackOptions.Tiering tiering) {
      int uses = tiering.offload() instanceof StackOptions.OffloadRule.UsedAtLeast least ? least.uses() : 0;
      return new Rules(uses, tiering.promoteAtHit(), tiering.prefetchBlocks(), tiering.queueBlocks(),
          tiering.queueBytes(), tiering.memoryHigh(), tiering.memoryLow());
    }
  }

  /// Bounds of leases and pins; times in milliseconds.
  record Bounds(long leaseLife, long mostLeaseLife, int leasesPerParty, long softPinLife, long mostSoftPinLife,
      double pinShare, long putPatience, long putLife, long roomTimeout) {
    static Bounds of(StackOptions.HoldOptions holds) {
      return new Bounds(holds.leaseLife().toMillis(), holds.mostLeaseLife().toMillis(), holds.leasesPerParty(),
          holds.softPinLife().toMillis(), holds.mostSoftPinLife().toMillis(), holds.pinShare(),
          holds.putPatience().toMillis(), holds.putLife().toMillis(), holds.roomTimeout().toMillis());
    }
  }

  /// The tier's part of memory that spaces share.
  record Room(String name, long leastBlocks, long totalBytes, List<SpaceRoom.Part> parts) {}

  /// Slots of a stack beyond its levels.
  ///
  /// @param host name of the level in host memory
  record Slots(String host, int ingress, int transfer, int promotion, int bounce, int batch, boolean verifyReads) {}

  /// Words of a stack that was built from `levels`.
  static TierWords of(CacheSpace space, List<StackLevel> levels, StackOptions options) {
    if (!space.tenantSalt().isEmpty()) {
      throw new IllegalArgumentException("space must have no salt to be recorded (has one)");
    }
    List<Medium> media = levels.stream().map(StackLevel::medium).toList();
    if (!media.equals(Stream.of(Medium.DEVICE, Medium.HOST, Medium.DISK).filter(media::contains).toList())) {
      throw new IllegalArgumentException(
          "levels must be a device, host memory and a disk in this order to be recorded (was " + media + ")");
    }
    long hostBlocks = 0;
    long diskBlocks = 0;
    String host = "dram";
    List<Store> stores = new ArrayList<>();
    for (StackLevel level : levels) {
      switch (level) {
        case StackLevel.Host memory -> {
          if (memory.share() != null) {
            throw new IllegalArgumentException(
                "level " + memory.name() + " must have no share to be recorded (has one)");
          }
          hostBlocks = memory.capacityBlocks();
          host = memory.name();
        }
        case StackLevel.Stored stored -> {
          BlockStore store = stored.store();
          boolean isDisk = store.medium() == Medium.DISK;
          diskBlocks = isDisk ? stored.capacityBlocks() : diskBlocks;
          stores.add(new Store(store.name(), store.medium(), store.durability(),
              isDisk ? store.capacityBlocks() : stored.capacityBlocks()));
        }
      }
    }
    return new TierWords(options.name(), Handshake.Space.of(space), null, hostBlocks, diskBlocks, options.mode(),
        options.policy(), options.ingressBlocks(), options.transferBlocks(), options.maxWaiters(),
        options.eventLogSize(), options.exact(), Rules.of(options.tiering()), Bounds.of(options.holds()),
        List.copyOf(stores), null, null,
        new Slots(host, options.ingressBlocks(), options.transferBlocks(), options.promotionBlocks(),
            options.bounceBlocks(), options.batchBlocks(), options.verifyReads()));
  }

  /// Options of the stack.
  StackOptions options(TierPlan plan) {
    StackOptions options = NodeTiers.options(name, plan);
    return slots == null
        ? options
        : options.withIngressBlocks(slots.ingress).withTransferBlocks(slots.transfer)
            .withPromotionBlocks(slots.promotion).withBounceBlocks(slots.bounce).withBatchBlocks(slots.batch)
            .withVerifyReads(slots.verifyReads);
  }

  /// Levels of the stack, on `played`.
  List<StackLevel> levels(TierPlan plan, List<BlockStore> played) {
    List<StackLevel> levels = NodeTiers.levels(plan, played, ssdBlocks);
    return slots == null
        ? levels
        : levels.stream().<StackLevel>map(level -> level instanceof StackLevel.Host memory
            ? new StackLevel.Host(slots.host, memory.capacityBlocks())
            : level).toList();
  }

  static TierWords of(TierPlan plan, List<BlockStore> stores) {
    return of(plan, stores, "", 0);
  }

  /// `space` with another salt.
  static CacheSpace named(CacheSpace space, String salt) {
    return Handshake.Space.of(space).with(salt);
  }

  /// @param standIn salt in the place of the plan's own; empty for none
  static TierWords of(TierPlan plan, List<BlockStore> stores, String standIn, long preparedBytes) {
    int blockBytes = plan.space().layout().blockBytes();
    SpaceRoom room = plan.room();
    CacheSpace shown = standIn.isEmpty() ? plan.space() : named(plan.space(), standIn);
    return new TierWords(plan.name(), Handshake.Space.of(shown), standIn.isEmpty() ? null : standIn,
        plan.dram().isOff() ? 0 : plan.dram().inBlocks(blockBytes),
        plan.ssd().isOff() ? 0 : plan.ssd().inBlocks(blockBytes), plan.mode(), plan.policy(), plan.reserveBlocks(),
        plan.windowBlocks(), plan.waiters(), plan.eventsKept(), plan.exact(),
        Rules.of(plan.tiering()), Bounds.of(plan.holds()),
        stores.stream()
            .map(store -> new Store(store.name(), store.medium(), store.durability(), store.capacityBlocks()))
            .toList(),
        preparedBytes == 0 ? null : preparedBytes,
        room == null ? null : new Room(room.name(), room.leastBlocks(), room.totalBytes(), room.parts()),
        null);
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
        preparedBytes, room, slots);
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
