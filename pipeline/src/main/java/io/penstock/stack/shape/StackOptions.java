package io.penstock.stack.shape;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.check.Checks;
import io.penstock.pool.evict.FrequencySketch;
import java.time.Duration;

/// How a `TierStack` is set up. The four kinds of slots are host memory beyond the capacity of the levels. Each kind
/// serves one purpose.
///
/// @param name named in receipts, errors and meters
/// @param mode whether a block is kept on one level, or on its own and all slower levels
/// @param ingressBlocks slots for blocks being written; where the first level is host memory, slots beyond its capacity
/// @param transferBlocks slots for windows that are read for a reader, for each level that is not host memory; also the
///     most blocks of a window
/// @param promotionBlocks slots for blocks that were read and wait for room on a faster level; a block without such a
///     slot is not promoted
/// @param bounceBlocks slots for blocks on their way from a device to a disk, and beyond the capacity of a host level
///     below a device
/// @param batchBlocks most blocks that are copied to or from a store at once
/// @param policy which block is evicted first
/// @param maxWaiters longest queue of reservations, or of windows, that wait for room
/// @param eventLogSize events kept for readers that are late or slow
/// @param verifyReads whether blocks in host memory are compared with their checksums before they are handed out
/// @param tiering deviations from the textbook policy, for the sake of the disk
/// @param exact whether hits and victims are those of the textbook policy: a key enters the ledger when a request
///     decides on it, and a lease holds all its blocks. Otherwise, for a node that strangers reach, a key enters with
///     its bytes, no block in use is evicted, and leases hold three quarters of host memory at most, each its share,
///     and admit no more keys than the levels have room for, each no more than it leaves; a stream fails with
///     [io.penstock.block.IncompleteBlockException] if a block that it did not hold was evicted before its window
/// @param holds bounds of read leases and pins
public record StackOptions(String name, Mode mode, int ingressBlocks, int transferBlocks, int promotionBlocks,
    int bounceBlocks, int batchBlocks, EvictionPolicy policy, int maxWaiters, int eventLogSize, boolean verifyReads,
    Tiering tiering, boolean exact, HoldOptions holds) {
  public StackOptions {
    requireNonNull(tiering, "tiering");
    requireNonNull(name, "name");
    requireNonNull(mode, "mode");
    requireNonNull(policy, "policy");
    requireNonNull(holds, "holds");
    Checks.positive("ingressBlocks", ingressBlocks);
    Checks.positive("transferBlocks", transferBlocks);
    Checks.positive("promotionBlocks", promotionBlocks);
    Checks.positive("bounceBlocks", bounceBlocks);
    Checks.positive("batchBlocks", batchBlocks);
    Checks.positive("maxWaiters", maxWaiters);
    Checks.positive("eventLogSize", eventLogSize);
  }

  /// Exclusive, exact LRU, 128 slots each for ingress, transfer and promotion, 64 to bounce, batches of 64 blocks,
  /// 1,024 waiters, 65,536 events, verified reads.
  public static StackOptions defaults(String name) {
    return new StackOptions(name, Mode.EXCLUSIVE, 128, 128, 128, 64, 64, EvictionPolicy.LRU, 1024, 65_536, true,
        Tiering.exact(), true, HoldOptions.defaults());
  }

  public StackOptions withMode(Mode mode) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  public StackOptions withIngressBlocks(int ingressBlocks) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  public StackOptions withTransferBlocks(int transferBlocks) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  public StackOptions withPromotionBlocks(int promotionBlocks) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  public StackOptions withBounceBlocks(int bounceBlocks) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  public StackOptions withBatchBlocks(int batchBlocks) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  /// With the mode and the rule of `policy`.
  public StackOptions withWritePolicy(WritePolicy policy) {
    return withMode(policy.mode()).withTiering(tiering.withOffload(policy.offload()));
  }

  public StackOptions withPolicy(EvictionPolicy policy) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  public StackOptions withMaxWaiters(int maxWaiters) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  public StackOptions withEventLogSize(int eventLogSize) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  public StackOptions withVerifyReads(boolean verifyReads) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  public StackOptions withTiering(Tiering tiering) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  public StackOptions withExact(boolean exact) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  public StackOptions withHolds(HoldOptions holds) {
    return new StackOptions(name, mode, ingressBlocks, transferBlocks, promotionBlocks, bounceBlocks, batchBlocks,
        policy, maxWaiters, eventLogSize, verifyReads, tiering, exact, holds);
  }

  /// How a `TierStack` deviates from the textbook policy, for the sake of its disk.
  ///
  /// @param offload which blocks are demoted to a disk when they leave memory; the others are evicted. Not asked in a
  ///     write-through stack, nor about blocks that the disk has already
  /// @param promoteAtHit how many recent hits promote a block from a disk; with fewer hits it stays there, as the most
  ///     recently used
  /// @param prefetchBlocks most blocks of a lease that are read from a store before the reader asks for them, in key
  ///     order; 0 for none
  /// @param queueBlocks most blocks that wait for a disk or are being written to it; above that, reservations wait.
  ///     [#UNBOUNDED]: only host memory bounds them
  /// @param queueBytes the same in bytes
  /// @param memoryHigh high watermark: the part of the host level in use above which its blocks are demoted, or evicted
  ///     if no level takes them; 1 for none. Not where decisions are exact
  /// @param memoryLow low watermark: the part in use at which that ends
  public record Tiering(OffloadRule offload, int promoteAtHit, int prefetchBlocks, long queueBlocks, long queueBytes,
      double memoryHigh, double memoryLow) {
    /// No bound.
    public static final long UNBOUNDED = Long.MAX_VALUE;

    private static final Tiering EXACT = new Tiering(OffloadRule.all(), 1, 0, UNBOUNDED, UNBOUNDED, 1, 1);

    public Tiering {
      requireNonNull(offload, "offload");
      if (promoteAtHit <= 0 || promoteAtHit > FrequencySketch.MOST) {
        throw new IllegalArgumentException(
            "promoteAtHit must be in [1, " + FrequencySketch.MOST + "] (was " + promoteAtHit + ")");
      }
      Checks.notNegative("prefetchBlocks", prefetchBlocks);
      Checks.positive("queueBlocks", queueBlocks);
      Checks.positive("queueBytes", queueBytes);
      if (!(memoryLow > 0 && memoryLow <= memoryHigh && memoryHigh <= 1)) {
        throw new IllegalArgumentException(
            "memoryLow and memoryHigh must be > 0, <= 1 and in order (was " + memoryLow + " and " + memoryHigh + ")");
      }
    }

    /// No deviation: hits and victims are those of the textbook policy.
    public static Tiering exact() {
      return EXACT;
    }

    public Tiering withOffload(OffloadRule offload) {
      return new Tiering(offload, promoteAtHit, prefetchBlocks, queueBlocks, queueBytes, memoryHigh, memoryLow);
    }

    public Tiering withPromoteAtHit(int promoteAtHit) {
      return new Tiering(offload, promoteAtHit, prefetchBlocks, queueBlocks, queueBytes, memoryHigh, memoryLow);
    }

    public Tiering withPrefetchBlocks(int prefetchBlocks) {
      return new Tiering(offload, promoteAtHit, prefetchBlocks, queueBlocks, queueBytes, memoryHigh, memoryLow);
    }

    public Tiering withQueue(long queueBlocks, long queueBytes) {
      return new Tiering(offload, promoteAtHit, prefetchBlocks, queueBlocks, queueBytes, memoryHigh, memoryLow);
    }

    public Tiering withWatermarks(double memoryHigh, double memoryLow) {
      return new Tiering(offload, promoteAtHit, prefetchBlocks, queueBlocks, queueBytes, memoryHigh, memoryLow);
    }

    /// Whether a rule needs the uses of a key, so that the stack counts them.
    public boolean countsUses() {
      return promoteAtHit > 1 || !offload.equals(OffloadRule.all());
    }

    /// Maximum number of blocks of `blockBytes` in the queue; at least one.
    public long mostQueued(long blockBytes) {
      return Math.max(1, Math.min(queueBlocks, queueBytes == UNBOUNDED ? UNBOUNDED : queueBytes / blockBytes));
    }
  }

  /// Chooses the blocks that are demoted to the disk when they leave memory. Called under a lock: must be quick, and
  /// must not call back.
  @FunctionalInterface
  public interface OffloadRule {
    /// Whether `key` is demoted to the disk; if not, it is evicted.
    ///
    /// @param uses estimate of the recent uses of `key`, at most 15; 0 for a block that no reader asked for
    boolean takes(BlockKey key, int uses);

    /// Every block.
    static OffloadRule all() {
      return usedAtLeast(0);
    }

    /// Blocks that were used at least `uses` times.
    static OffloadRule usedAtLeast(int uses) {
      return new UsedAtLeast(uses);
    }

    /// Blocks that were used at least `uses` times. A record, so that the stack can compare it with [#all()] and then
    /// need not count uses.
    record UsedAtLeast(int uses) implements OffloadRule {
      public UsedAtLeast {
        if (uses < 0 || uses > FrequencySketch.MOST) {
          throw new IllegalArgumentException("uses must be in [0, " + FrequencySketch.MOST + "] (was " + uses + ")");
        }
      }

      @Override
      public boolean takes(BlockKey key, int counted) {
        return counted >= uses;
      }
    }
  }

  /// Where a block of a `TierStack` is kept.
  public enum Mode {
    /// One level at a time: the stack holds as many blocks as all its levels together. A receipt is volatile.
    EXCLUSIVE,
    /// Its level and all slower ones. A block is written through to the last level, a disk, before it is visible, so
    /// its receipt promises as much as that disk can. A demotion costs no copy. The stack holds as many blocks as its
    /// last level.
    WRITE_THROUGH
  }

  /// Time at which a block reaches the disk: a [Mode] and an [OffloadRule] by the name that serving engines have for
  /// them.
  public enum WritePolicy {
    /// Every block, before it is visible.
    WRITE_THROUGH(Mode.WRITE_THROUGH, 0),
    /// A block that was used twice, when it leaves memory; others are evicted.
    WRITE_THROUGH_SELECTIVE(Mode.EXCLUSIVE, 2),
    /// Every block, when it leaves memory.
    WRITE_BACK(Mode.EXCLUSIVE, 0);

    private final Mode mode;
    private final int uses;

    WritePolicy(Mode mode, int uses) {
      this.mode = mode;
      this.uses = uses;
    }

    public Mode mode() {
      return mode;
    }

    /// Number of recent uses that a block needs to be written.
    public int uses() {
      return uses;
    }

    OffloadRule offload() {
      return OffloadRule.usedAtLeast(uses);
    }
  }

  /// Bounds of the read leases and pins of a `TierStack`.
  ///
  /// @param leaseLife life of a lease that asks for none, and of the lease that a hit renews for a group
  /// @param mostLeaseLife longest life of a lease
  /// @param leasesPerParty most read leases of one party at one time
  /// @param softPinLife life of a soft pin that asks for none
  /// @param mostSoftPinLife longest life of a soft pin
  /// @param pinShare the part of the blocks that may be pinned, in [0, 1]: of the capacity of the last level
  /// @param putPatience how long a put keeps other writers from its keys; not where decisions are exact
  /// @param putLife how long a put that is not finished keeps its room; not where decisions are exact
  /// @param roomTimeout how long a put waits for room before it is refused; not where decisions are exact, which wait
  ///     without end
  public record HoldOptions(Duration leaseLife, Duration mostLeaseLife, int leasesPerParty, Duration softPinLife,
      Duration mostSoftPinLife, double pinShare, Duration putPatience, Duration putLife, Duration roomTimeout) {
    public HoldOptions {
      Checks.atLeastOneMilli("leaseLife", leaseLife);
      Checks.atLeastOneMilli("mostLeaseLife", mostLeaseLife);
      Checks.positive("leasesPerParty", leasesPerParty);
      Checks.atLeastOneMilli("softPinLife", softPinLife);
      Checks.atLeastOneMilli("mostSoftPinLife", mostSoftPinLife);
      Checks.atLeastOneMilli("putPatience", putPatience);
      Checks.atLeastOneMilli("putLife", putLife);
      Checks.atLeastOneMilli("roomTimeout", roomTimeout);
      requireMost("putPatience", putPatience, putLife);
      requireMost("leaseLife", leaseLife, mostLeaseLife);
      requireMost("softPinLife", softPinLife, mostSoftPinLife);
      if (!(pinShare >= 0 && pinShare <= 1)) {
        throw new IllegalArgumentException("pinShare must be in [0, 1] (was " + pinShare + ")");
      }
    }

    /// Leases of 10 s, of 10 minutes at most, 1,024 a party; soft pins of 30 minutes, of 24 hours at most; half of the
    /// blocks may be pinned; puts wait 30 s for room.
    public static HoldOptions defaults() {
      return new HoldOptions(Duration.ofSeconds(10), Duration.ofMinutes(10), 1024, Duration.ofMinutes(30),
          Duration.ofHours(24), 0.5, Duration.ofSeconds(30), Duration.ofMinutes(10), Duration.ofSeconds(30));
    }

    public HoldOptions withLeaseLife(Duration leaseLife) {
      return new HoldOptions(leaseLife, mostLeaseLife, leasesPerParty, softPinLife, mostSoftPinLife, pinShare,
          putPatience, putLife, roomTimeout);
    }

    public HoldOptions withLeasesPerParty(int leasesPerParty) {
      return new HoldOptions(leaseLife, mostLeaseLife, leasesPerParty, softPinLife, mostSoftPinLife, pinShare,
          putPatience, putLife, roomTimeout);
    }

    public HoldOptions withSoftPinLife(Duration softPinLife) {
      return new HoldOptions(leaseLife, mostLeaseLife, leasesPerParty, softPinLife, mostSoftPinLife, pinShare,
          putPatience, putLife, roomTimeout);
    }

    public HoldOptions withPinShare(double pinShare) {
      return new HoldOptions(leaseLife, mostLeaseLife, leasesPerParty, softPinLife, mostSoftPinLife, pinShare,
          putPatience, putLife, roomTimeout);
    }

    public HoldOptions withRoomTimeout(Duration roomTimeout) {
      return new HoldOptions(leaseLife, mostLeaseLife, leasesPerParty, softPinLife, mostSoftPinLife, pinShare,
          putPatience, putLife, roomTimeout);
    }

    /// The life of a lease that asks for `wanted`.
    ///
    /// @throws IllegalArgumentException if that is too long
    public Duration lease(Duration wanted) {
      return wanted.isZero() ? leaseLife : requireMost("life of a lease", wanted, mostLeaseLife);
    }

    /// The life of a soft pin that asks for `wanted`.
    ///
    /// @throws IllegalArgumentException if that is too long
    public Duration softPin(Duration wanted) {
      return wanted.isZero() ? softPinLife : requireMost("life of a soft pin", wanted, mostSoftPinLife);
    }

    private static Duration requireMost(String what, Duration life, Duration most) {
      if (life.compareTo(most) > 0) {
        throw new IllegalArgumentException(
            "%s must be <= %d ms (was %d)".formatted(what, most.toMillis(), life.toMillis()));
      }
      return life;
    }
  }

  /// Which keys a `TierStack` samples to estimate what other capacities would bring.
  ///
  /// @param keys most sampled keys; 0 for no estimate
  /// @param seed of the choice; clients must not know it
  public record Sampling(int keys, long seed) {
    /// No estimate.
    public static Sampling none() {
      return new Sampling(0, 0);
    }
  }
}
