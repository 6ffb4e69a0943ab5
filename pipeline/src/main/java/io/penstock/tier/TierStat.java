package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Figures of a tier at one moment; counters run from its opening.
///
/// @param blocks visible blocks
/// @param capacityBlocks most blocks, `Long.MAX_VALUE` if unbounded
/// @param bytes payload bytes of the visible blocks
/// @param claimedBytes payload bytes of all memory lent: visible, being written, leased after eviction
/// @param hits references that found their block
/// @param misses references that did not find it
/// @param stored blocks made visible
/// @param evicted blocks evicted by the policy
/// @param corrupt blocks quarantined
/// @param lastSequence sequence of the newest event, 0 before the first
/// @param levels figures of its levels, fastest first; empty if it reports none
/// @param tiering the queue for its disk, and its deviations from the policy
/// @param memory its host memory, by kind; empty if it reports none
/// @param holds its read leases and pins
/// @param oldestUseMicros when the least recently used block of the last level that has blocks was used, in
///     microseconds since 1970 by the clock of the tier's host; 0 if there is none, or the tier does not know
public record TierStat(long blocks, long capacityBlocks, long bytes, long claimedBytes, long hits, long misses,
    long stored, long evicted, long corrupt, long lastSequence, List<Level> levels, Tiering tiering,
    List<Memory> memory, Holds holds, long oldestUseMicros) {
  public TierStat {
    levels = List.copyOf(levels);
    requireNonNull(tiering, "tiering");
    memory = memory == null ? List.of() : List.copyOf(memory); // null from a node that does not know of it
    holds = holds == null ? Holds.NONE : holds; // likewise
  }

  /// Figures of a tier that does not know when its blocks were used.
  public TierStat(long blocks, long capacityBlocks, long bytes, long claimedBytes, long hits, long misses, long stored,
      long evicted, long corrupt, long lastSequence, List<Level> levels, Tiering tiering, List<Memory> memory,
      Holds holds) {
    this(blocks, capacityBlocks, bytes, claimedBytes, hits, misses, stored, evicted, corrupt, lastSequence, levels,
        tiering, memory, holds, 0);
  }

  /// Figures of a tier that reports no memory, and no leases and pins.
  public TierStat(long blocks, long capacityBlocks, long bytes, long claimedBytes, long hits, long misses, long stored,
      long evicted, long corrupt, long lastSequence, List<Level> levels, Tiering tiering) {
    this(blocks, capacityBlocks, bytes, claimedBytes, hits, misses, stored, evicted, corrupt, lastSequence, levels,
        tiering, List.of(), Holds.NONE);
  }

  /// Figures of a tier without a queue for a disk, and without deviations from its policy.
  public TierStat(long blocks, long capacityBlocks, long bytes, long claimedBytes, long hits, long misses, long stored,
      long evicted, long corrupt, long lastSequence, List<Level> levels) {
    this(blocks, capacityBlocks, bytes, claimedBytes, hits, misses, stored, evicted, corrupt, lastSequence, levels,
        Tiering.NONE);
  }

  public TierStat withMemory(List<Memory> memory) {
    return new TierStat(blocks, capacityBlocks, bytes, claimedBytes, hits, misses, stored, evicted, corrupt,
        lastSequence, levels, tiering, memory, holds, oldestUseMicros);
  }

  public TierStat withOldestUseMicros(long oldestUseMicros) {
    return new TierStat(blocks, capacityBlocks, bytes, claimedBytes, hits, misses, stored, evicted, corrupt,
        lastSequence, levels, tiering, memory, holds, oldestUseMicros);
  }

  public TierStat withHolds(Holds holds) {
    return new TierStat(blocks, capacityBlocks, bytes, claimedBytes, hits, misses, stored, evicted, corrupt,
        lastSequence, levels, tiering, memory, holds, oldestUseMicros);
  }

  /// The read leases and pins of a tier, and the blocks that they keep from being evicted; counters run from its
  /// opening.
  ///
  /// @param leases read leases that live
  /// @param leasedBlocks blocks that they hold
  /// @param mostLeasedBlocks maximum number of blocks that read leases, streams and windows hold together
  /// @param softPinned blocks with a soft pin
  /// @param hardPinned blocks with a hard pin
  /// @param mostPinned maximum number of blocks with a pin
  /// @param inUse times that the policy passed over a block because a reader or a copy used it
  /// @param leased times because a read lease held it
  /// @param softPassed times because of a soft pin
  /// @param hardPassed times because of a hard pin
  public record Holds(long leases, long leasedBlocks, long mostLeasedBlocks, long softPinned, long hardPinned,
      long mostPinned, long inUse, long leased, long softPassed, long hardPassed) {
    /// Figures of a tier without read leases and pins.
    public static final Holds NONE = new Holds(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  /// Figures of one level of a tier at one moment; counters run from its opening.
  ///
  /// @param name of the level
  /// @param medium where its bytes are
  /// @param capacityBlocks most blocks, `Long.MAX_VALUE` if unbounded
  /// @param blocks visible blocks that the ledger has on this level
  /// @param storedBlocks blocks whose bytes are on this level: the ledger may be ahead of copies, and a disk keeps
  ///     copies of promoted blocks
  /// @param hits references that found their block on this level of the ledger
  /// @param arrived blocks that were copied, or handed over, to this level
  /// @param health of its store; while the store gives no blocks, its blocks are misses
  /// @param copies copies that its device made; null for a level without a device
  /// @param disk the work of its disk; null for a level without a disk
  public record Level(String name, Medium medium, long capacityBlocks, long blocks, long storedBlocks, long hits,
      long arrived, StoreHealth health, @Nullable Copies copies, @Nullable Disk disk) {
    public Level {
      requireNonNull(name, "name");
      requireNonNull(medium, "medium");
      requireNonNull(health, "health");
    }

    /// Figures of a healthy level, on no device and no disk.
    public Level(String name, Medium medium, long capacityBlocks, long blocks, long storedBlocks, long hits,
        long arrived) {
      this(name, medium, capacityBlocks, blocks, storedBlocks, hits, arrived, StoreHealth.GOOD, null, null);
    }
  }

  /// The queue for the disk of a `TierStack`, and its deviations from the policy; counters run from its opening.
  ///
  /// @param queuedBlocks blocks that wait for a disk, or are being written to it
  /// @param queuedBytes bytes of these blocks
  /// @param mostQueuedBlocks the longest queue so far
  /// @param queueBlocks length at which a reservation begins to wait, `Long.MAX_VALUE` if host memory alone bounds it
  /// @param queueMillis sum of the waits of all blocks until they were stored or refused
  /// @param longestMillis longest wait of a block
  /// @param withheld reservations that had to wait for the queue
  /// @param held hits of blocks on a disk that did not promote the block
  /// @param prefetched blocks that were read before their reader asked for them
  /// @param useful prefetched blocks that the reader then asked for
  /// @param wasted prefetched blocks that the reader never asked for
  /// @param evictedForRoom blocks evicted because a store had no room
  /// @param aboveWatermark blocks that left memory because it was above its high watermark
  public record Tiering(long queuedBlocks, long queuedBytes, long mostQueuedBlocks, long queueBlocks,
      long queueMillis, long longestMillis,
      long withheld, long held, long prefetched, long useful, long wasted, long evictedForRoom,
      long aboveWatermark) {
    /// Figures of a tier without such a queue and such deviations.
    public static final Tiering NONE = new Tiering(0, 0, 0, Long.MAX_VALUE, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  /// Copies of blocks into the memory of a device and back; counters run from its start.
  ///
  /// @param device whose memory it is
  /// @param calls calls of its library; a call copies one or many elements
  /// @param elements elements that these calls were to copy
  /// @param bytes bytes of the elements
  /// @param fallbacks copies of many elements that took a call for each element, because the library has no call for
  ///     many
  /// @param failed elements that were not copied, or perhaps not
  public record Copies(String device, long calls, long elements, long bytes, long fallbacks, long failed) {
    public Copies {
      requireNonNull(device, "device");
    }

    /// The counts since `before`.
    public Copies since(Copies before) {
      return new Copies(device, calls - before.calls, elements - before.elements, bytes - before.bytes,
          fallbacks - before.fallbacks, failed - before.failed);
    }
  }

  /// The work of a store on a disk: syncs, compaction, scrub, damage; counters run from its opening.
  ///
  /// @param unsyncedBytes bytes written and not forced to the medium yet
  /// @param unsyncedMillis age of the oldest of these bytes; 0 if there are none
  /// @param syncs syncs that succeeded
  /// @param failedSyncs syncs that failed
  /// @param uncertainBytes bytes of a failed sync, which may or may not be on the medium
  /// @param segments segment files
  /// @param heldBytes bytes of these files
  /// @param liveBytes bytes of the live records in them
  /// @param putBytes bytes of blocks that were put
  /// @param movedBytes bytes of live records that compaction moved
  /// @param reclaimed segments that compaction freed
  /// @param scrubPasses times that the scrub has read all blocks
  /// @param scrubbedBytes bytes that the scrub has read
  /// @param damaged blocks lost because they were found damaged: by the scrub, by compaction, at the opening, or by a
  ///     read
  /// @param unreadable blocks lost because the medium did not give them in several tries, though it gave others
  /// @param unkept damaged blocks of which the quarantine keeps no bytes, because it is full or the disk failed
  /// @param damagedAtOpening those of the damaged blocks that the opening found
  /// @param problems for people: the newest failure of each work that is tried again, and findings of the opening
  public record Disk(long unsyncedBytes, long unsyncedMillis, long syncs, long failedSyncs, long uncertainBytes,
      int segments, long heldBytes,
      long liveBytes, long putBytes, long movedBytes, long reclaimed, long scrubPasses, long scrubbedBytes,
      long damaged,
      long unreadable, long unkept, long damagedAtOpening, List<String> problems) {
    /// Figures of a disk that has done nothing yet.
    public static final Disk NONE = new Disk(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, List.of());

    public Disk {
      problems = List.copyOf(problems);
    }

    /// Bytes written for each byte put; 1 before the first put.
    public double writeAmplification() {
      return putBytes == 0 ? 1 : (double) (putBytes + movedBytes) / putBytes;
    }
  }

  /// Host memory of one kind that a tier has allocated.
  ///
  /// @param rung short name of the kind of allocation
  /// @param pages the kind in plain words
  /// @param pageBytes size of its pages; 0 if the system chose it
  /// @param node NUMA node that was requested; null if any
  /// @param locked whether it stays in memory
  public record Memory(String rung, String pages, long bytes, long pageBytes, @Nullable Integer node,
      boolean locked) {
    public Memory {
      requireNonNull(rung, "rung");
      requireNonNull(pages, "pages");
    }
  }
}
