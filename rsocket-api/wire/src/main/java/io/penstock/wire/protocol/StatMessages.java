package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.copied;
import static io.penstock.wire.protocol.Fields.oneOf;
import static io.penstock.wire.protocol.Fields.present;

import io.penstock.tier.Medium;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The figures of a node, the reply of route `stat`; see [Messages] for what holds for all. These records belong to
/// version 1 of the protocol and repeat the kernel's, whose components may be renamed. [TierStat] explains the figures.
public final class StatMessages {
  private StatMessages() {}

  /// @param outgoingBytes null from a node that does not tell
  /// @param spaces null from a node that does not tell
  /// @param carried null from a node that does not tell
  /// @param waitedMillis by culprit; null from a node that does not tell
  /// @param doors null from a node that has none, or does not tell
  public record StatReply(String node, String tier, String medium, TierFigures stat, long inFlightBytes,
      long peakInFlightBytes, long budgetBytes, @Nullable Long outgoingBytes, boolean draining,
      @Nullable List<SpaceFigures> spaces, @Nullable Moved carried,
      @OmitsNulls @Nullable Map<String, Long> waitedMillis, @OmitsNulls @Nullable List<DoorFigures> doors) {
    public StatReply {
      present("stat", stat);
      doors = doors == null ? null : copied("doors", doors);
      spaces = spaces == null ? null : copied("spaces", spaces);
    }
  }

  /// What the users of a door for another protocol did.
  ///
  /// @param users counts by user, each by its name; the empty user stands for clients without credentials
  public record DoorFigures(String door, String address, int connections, Map<String, Map<String, Long>> users) {
    public DoorFigures {
      present("doors.door", door);
      present("doors.users", users);
    }
  }

  /// Bytes by the label of their carrier.
  public record Moved(@Nullable Map<String, Long> in, @Nullable Map<String, Long> out) {}

  /// @param space public id
  public record SpaceFigures(String tier, String medium, String space, String model, long blockBytes,
      TierFigures stat) {
    public SpaceFigures {
      present("spaces.stat", stat);
    }

    public static SpaceFigures of(TierInfo info, TierStat stat) {
      return new SpaceFigures(info.name(), info.medium().name(), info.space().publicId(), info.space().model(),
          info.space().layout().blockBytes(), TierFigures.of(stat));
    }
  }

  /// @param memory null from a node that does not tell
  /// @param holds null from a node that does not tell
  /// @param oldestUseMicros null from a node that does not tell
  public record TierFigures(long blocks, long capacityBlocks, long bytes, long claimedBytes, long hits, long misses,
      long stored, long evicted, long corrupt, long lastSequence, List<LevelFigures> levels, TieringFigures tiering,
      @Nullable List<MemoryFigures> memory, @Nullable HoldFigures holds, @OmitsNulls @Nullable Long oldestUseMicros) {
    public TierFigures {
      levels = copied("stat.levels", levels);
      present("stat.tiering", tiering);
      memory = memory == null ? null : copied("stat.memory", memory);
    }

    public static TierFigures of(TierStat stat) {
      return new TierFigures(stat.blocks(), stat.capacityBlocks(), stat.bytes(), stat.claimedBytes(), stat.hits(),
          stat.misses(), stat.stored(), stat.evicted(), stat.corrupt(), stat.lastSequence(),
          stat.levels().stream().map(LevelFigures::of).toList(), TieringFigures.of(stat.tiering()),
          stat.memory().stream().map(MemoryFigures::of).toList(), HoldFigures.of(stat.holds()),
          stat.oldestUseMicros() == 0 ? null : (Long) stat.oldestUseMicros());
    }

    public TierStat stat() {
      return new TierStat(blocks, capacityBlocks, bytes, claimedBytes, hits, misses, stored, evicted, corrupt,
          lastSequence, levels.stream().map(LevelFigures::level).toList(), tiering.tiering(),
          memory == null ? List.of() : memory.stream().map(MemoryFigures::memory).toList(),
          holds == null ? TierStat.Holds.NONE : holds.holds(), oldestUseMicros == null ? 0 : oldestUseMicros);
    }
  }

  record LevelFigures(String name, String medium, long capacityBlocks, long blocks, long storedBlocks, long hits,
      long arrived, Health health, @Nullable CopyFigures copies, @Nullable DiskFigures disk) {
    LevelFigures {
      present("level.name", name);
      present("level.medium", medium);
      present("level.health", health);
    }

    private static LevelFigures of(TierStat.Level level) {
      TierStat.Copies copies = level.copies();
      TierStat.Disk disk = level.disk();
      return new LevelFigures(level.name(), level.medium().name(), level.capacityBlocks(), level.blocks(),
          level.storedBlocks(), level.hits(), level.arrived(), Health.of(level.health()),
          copies == null ? null : CopyFigures.of(copies), disk == null ? null : DiskFigures.of(disk));
    }

    private TierStat.Level level() {
      return new TierStat.Level(name, oneOf(Medium.class, "level.medium", medium), capacityBlocks, blocks,
          storedBlocks, hits, arrived, health.health(), copies == null ? null : copies.copies(),
          disk == null ? null : disk.disk());
    }
  }

  record Health(String state, @Nullable String problem) {
    private static Health of(StoreHealth health) {
      return new Health(health.state().name(), health.problem());
    }

    private StoreHealth health() {
      return new StoreHealth(oneOf(StoreHealth.State.class, "health.state", state), problem);
    }
  }

  record CopyFigures(String device, long calls, long elements, long bytes, long fallbacks, long failed) {
    CopyFigures {
      present("copies.device", device);
    }

    private static CopyFigures of(TierStat.Copies copies) {
      return new CopyFigures(copies.device(), copies.calls(), copies.elements(), copies.bytes(), copies.fallbacks(),
          copies.failed());
    }

    private TierStat.Copies copies() {
      return new TierStat.Copies(device, calls, elements, bytes, fallbacks, failed);
    }
  }

  /// Figures that a node does not tell are null, and count as 0.
  record DiskFigures(@Nullable Long unsyncedBytes, @Nullable Long unsyncedMillis, @Nullable Long syncs,
      @Nullable Long failedSyncs, @Nullable Long uncertainBytes, @Nullable Integer segments, @Nullable Long heldBytes,
      @Nullable Long liveBytes, @Nullable Long putBytes, @Nullable Long movedBytes, @Nullable Long reclaimed,
      @Nullable Long scrubPasses, @Nullable Long scrubbedBytes, @Nullable Long damaged, @Nullable Long unreadable,
      @Nullable Long unkept, @Nullable Long damagedAtOpening, @Nullable List<String> problems) {
    DiskFigures {
      problems = problems == null ? null : copied("disk.problems", problems);
    }

    private static DiskFigures of(TierStat.Disk disk) {
      return new DiskFigures(disk.unsyncedBytes(), disk.unsyncedMillis(), disk.syncs(), disk.failedSyncs(),
          disk.uncertainBytes(), disk.segments(), disk.heldBytes(), disk.liveBytes(), disk.putBytes(),
          disk.movedBytes(), disk.reclaimed(), disk.scrubPasses(), disk.scrubbedBytes(), disk.damaged(),
          disk.unreadable(), disk.unkept(), disk.damagedAtOpening(), disk.problems());
    }

    private TierStat.Disk disk() {
      return new TierStat.Disk(told(unsyncedBytes), told(unsyncedMillis), told(syncs), told(failedSyncs),
          told(uncertainBytes), segments == null ? 0 : segments, told(heldBytes), told(liveBytes), told(putBytes),
          told(movedBytes), told(reclaimed), told(scrubPasses), told(scrubbedBytes), told(damaged), told(unreadable),
          told(unkept), told(damagedAtOpening), problems == null ? List.of() : problems);
    }

    private static long told(@Nullable Long figure) {
      return figure == null ? 0 : figure;
    }
  }

  record TieringFigures(long queuedBlocks, long queuedBytes, long mostQueuedBlocks, long queueBlocks, long queueMillis,
      long longestMillis, long withheld, long held, long prefetched, long useful, long wasted, long evictedForRoom,
      long aboveWatermark) {
    private static TieringFigures of(TierStat.Tiering tiering) {
      return new TieringFigures(tiering.queuedBlocks(), tiering.queuedBytes(), tiering.mostQueuedBlocks(),
          tiering.queueBlocks(), tiering.queueMillis(), tiering.longestMillis(), tiering.withheld(), tiering.held(),
          tiering.prefetched(), tiering.useful(), tiering.wasted(), tiering.evictedForRoom(),
          tiering.aboveWatermark());
    }

    private TierStat.Tiering tiering() {
      return new TierStat.Tiering(queuedBlocks, queuedBytes, mostQueuedBlocks, queueBlocks, queueMillis, longestMillis,
          withheld, held, prefetched, useful, wasted, evictedForRoom, aboveWatermark);
    }
  }

  record MemoryFigures(String rung, String pages, long bytes, long pageBytes, @Nullable Integer node, boolean locked) {
    MemoryFigures {
      present("memory.rung", rung);
      present("memory.pages", pages);
    }

    private static MemoryFigures of(TierStat.Memory memory) {
      return new MemoryFigures(memory.rung(), memory.pages(), memory.bytes(), memory.pageBytes(), memory.node(),
          memory.locked());
    }

    private TierStat.Memory memory() {
      return new TierStat.Memory(rung, pages, bytes, pageBytes, node, locked);
    }
  }

  record HoldFigures(long leases, long leasedBlocks, long mostLeasedBlocks, long softPinned, long hardPinned,
      long mostPinned, long inUse, long leased, long softPassed, long hardPassed) {
    private static HoldFigures of(TierStat.Holds holds) {
      return new HoldFigures(holds.leases(), holds.leasedBlocks(), holds.mostLeasedBlocks(), holds.softPinned(),
          holds.hardPinned(), holds.mostPinned(), holds.inUse(), holds.leased(), holds.softPassed(),
          holds.hardPassed());
    }

    private TierStat.Holds holds() {
      return new TierStat.Holds(leases, leasedBlocks, mostLeasedBlocks, softPinned, hardPinned, mostPinned, inUse,
          leased, softPassed, hardPassed);
    }
  }
}
