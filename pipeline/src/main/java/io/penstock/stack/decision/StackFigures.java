package io.penstock.stack.decision;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.pool.Hold;
import io.penstock.pool.PrefixIndex;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierStat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The counters of a `TierStack` and its index of readable keys, updated with each change, so that reading them costs
/// little. Used in decisions only, except [#readable()].
public final class StackFigures {
  private static final long NANOS_A_MILLI = 1_000_000;

  private final StackShape shape;
  /// Null if decisions are exact: lookups are decisions then, and ask the ledger.
  private final @Nullable PrefixIndex readable;
  private final long[] hitsOfLevel;
  private final long[] arrivals;
  private final long[] visibleOnLevel;
  private final long[] storedOnLevel;
  private long visible;
  private long inStoresOnly;
  private long hits;
  private long misses;
  private long stored;
  private long evicted;
  private long corrupt;
  private long held;
  private long prefetched;
  private long prefetchedUseful;
  private long prefetchedWasted;
  private long evictedForRoom;
  private long leased;
  private final long[] pinned = new long[Pin.Kind.values().length];
  private long reservations;
  private long queued;
  private long queuedPeak;
  private long queueBound;
  private long queueWaiters;
  private long waitedNanos;
  private long longestNanos;
  private long withheld;
  private long demotedByMark;
  private final long[] passedOver = new long[Hold.values().length];

  public StackFigures(StackShape shape) {
    this.shape = shape;
    this.readable = shape.options().exact() ? null : new PrefixIndex(shape.info().space().id());
    int levels = shape.levels().size();
    this.hitsOfLevel = new long[levels];
    this.arrivals = new long[levels];
    this.visibleOnLevel = new long[levels];
    this.storedOnLevel = new long[levels];
  }

  /// Whether a reader or a move holds `block`, beside the stack.
  boolean isHeld(Block block) {
    return shape.inputs().isHeld(block);
  }

  public int levels() {
    return hitsOfLevel.length;
  }

  /// The visible keys, each with the [#places] of its bytes; null if decisions are exact.
  public @Nullable PrefixIndex readable() {
    return readable;
  }

  /// Places of bytes, a bit each: [StackShape#place] of a store, [StackShape#memoryPlace] of memory.
  int places(boolean inMemory, @Nullable StoreCopy[] copies) {
    int places = inMemory ? shape.memoryPlace() : 0;
    for (int i = 0; i < copies.length; i++) {
      places |= copies[i] == null ? 0 : StackShape.place(i);
    }
    return places;
  }

  /// The bytes of the visible `key` are in `places`; 0 if it is not visible any more.
  public void readable(BlockKey key, int places) {
    if (readable != null) {
      readable.set(key, places);
    }
  }

  /// Adds `more`, 1 or −1, to the visible blocks on `level` of the ledger.
  public void visible(int level, int more) {
    visible += more;
    visibleOnLevel[level] += more;
  }

  /// Adds `more` to the blocks with bytes in the store of `level`.
  public void stored(int level, int more) {
    storedOnLevel[level] += more;
  }

  /// Adds `more` to the blocks whose memory the host level pays for.
  void onHostLevel(int more) {
    storedOnLevel[shape.host()] += more;
  }

  /// Adds `more` to the blocks, visible or still leased, with bytes in stores alone.
  public void inStoresOnly(int more) {
    inStoresOnly += more;
  }

  /// Counts `blocks` that were copied, or handed over, to `level`.
  public void arrived(int level, int blocks) {
    arrivals[level] += blocks;
  }

  /// Counts a hit on `level` of the ledger.
  public void hit(int level, boolean promoted) {
    hitsOfLevel[level]++;
    held += promoted ? 0 : 1;
  }

  /// Counts the hits and misses of a lease: `found` of `references` keys.
  public void referenced(int references, int found) {
    hits += found;
    misses += references - found;
  }

  public void committed(int blocks) {
    stored += blocks;
  }

  public void evicted() {
    evicted++;
  }

  public void evictedForRoom(int blocks) {
    evictedForRoom += blocks;
  }

  /// Adds `more`, 1 or −1, to the blocks that read leases hold.
  public void leased(int more) {
    leased += more;
  }

  public long leased() {
    return leased;
  }

  /// Adds `more`, 1 or −1, to the blocks with a pin of this kind.
  public void pinned(Pin.Kind kind, int more) {
    pinned[kind.ordinal()] += more;
  }

  public long pinned(Pin.Kind kind) {
    return pinned[kind.ordinal()];
  }

  /// Counts a block that was not evicted or demoted because of `hold`.
  public void passedOver(Hold hold) {
    passedOver[hold.ordinal()]++;
  }

  // Writers and the write queue of the disk

  /// Adds `more`, 1 or −1, to the reservations that have not ended.
  public void reservations(int more) {
    reservations += more;
  }

  public long reservations() {
    return reservations;
  }

  /// The write queue may have `most` blocks before it holds back reservations.
  public void boundQueue(long most) {
    queueBound = most;
  }

  /// The write queue has `blocks` now.
  public void queue(long blocks) {
    queued = blocks;
    queuedPeak = Math.max(queuedPeak, blocks);
  }

  /// Counts `blocks` that left the write queue after `waited`.
  public void leftQueue(int blocks, long waited) {
    waitedNanos += waited * blocks;
    longestNanos = Math.max(longestNanos, waited);
  }

  /// Counts a reservation that the write queue held back.
  public void withheld() {
    withheld++;
  }

  /// So many reservations wait for the write queue now.
  public void waitForQueue(int waiting) {
    queueWaiters = waiting;
  }

  public long queueWaiters() {
    return queueWaiters;
  }

  /// Counts `blocks` that left memory because of the watermarks.
  public void demotedByMark(int blocks) {
    demotedByMark += blocks;
  }

  // What is shown

  public void corrupt() {
    corrupt++;
  }

  public void prefetched(int blocks) {
    prefetched += blocks;
  }

  /// Counts `blocks` that were prefetched: useful if their reader asked for them, else wasted.
  public void prefetchEnded(int blocks, boolean useful) {
    prefetchedUseful += useful ? blocks : 0;
    prefetchedWasted += useful ? 0 : blocks;
  }

  /// The figures of level `i` of the ledger.
  ///
  /// @param capacity most blocks of the level now
  public TierStat.Level level(int i, long capacity, StoreHealth health, TierStat.@Nullable Copies copies,
      TierStat.@Nullable Disk disk) {
    StackLevel level = shape.levels().get(i);
    return new TierStat.Level(level.name(), level.medium(), capacity, visibleOnLevel[i], storedOnLevel[i],
        hitsOfLevel[i], arrivals[i], health, copies, disk);
  }

  /// All figures.
  ///
  /// @param claimedSlots slots of host memory that are lent
  /// @param sequence number of the last event
  /// @param levels fastest first
  /// @param leases read leases that live
  public TierStat stat(long claimedSlots, long sequence, List<TierStat.Level> levels, int leases, long mostLeased,
      long mostPinned) {
    return new TierStat(visible, shape.info().capacityBlocks(), visible * shape.blockBytes(),
        (claimedSlots + inStoresOnly) * shape.blockBytes(), hits, misses, stored, evicted, corrupt, sequence, levels,
        new TierStat.Tiering(queued, queued * shape.blockBytes(), queuedPeak, queueBound, waitedNanos / NANOS_A_MILLI,
            longestNanos / NANOS_A_MILLI, withheld, held, prefetched, prefetchedUseful, prefetchedWasted,
            evictedForRoom,
            demotedByMark))
        .withHolds(new TierStat.Holds(leases, leased, mostLeased, pinned(Pin.Kind.SOFT), pinned(Pin.Kind.HARD),
            mostPinned, passedOver[Hold.IN_USE.ordinal()], passedOver[Hold.LEASE.ordinal()],
            passedOver[Hold.SOFT_PIN.ordinal()], passedOver[Hold.HARD_PIN.ordinal()]));
  }
}
