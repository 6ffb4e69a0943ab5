package io.penstock.tier;

import io.penstock.block.BlockKey;
import io.penstock.pool.Hold;
import io.penstock.pool.PrefixIndex;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierStack.Level;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The counters of a [TierStack] and its index of readable keys, updated with each change, so that reading them costs
/// little. Used in decisions only, except [#readable()].
final class StackFigures {
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
  private final long[] passedOver = new long[Hold.values().length];

  StackFigures(StackShape shape) {
    this.shape = shape;
    this.readable = shape.options().exact() ? null : new PrefixIndex(shape.info().space().id());
    int levels = shape.levels().size();
    this.hitsOfLevel = new long[levels];
    this.arrivals = new long[levels];
    this.visibleOnLevel = new long[levels];
    this.storedOnLevel = new long[levels];
  }

  int levels() {
    return hitsOfLevel.length;
  }

  /// The visible keys, each with the [#places] of its bytes; null if decisions are exact.
  @Nullable PrefixIndex readable() {
    return readable;
  }

  /// Where bytes are, a bit each: [StackShape#place] of a store, [StackShape#memoryPlace] of memory.
  int places(boolean inMemory, @Nullable StoreCopy[] copies) {
    int places = inMemory ? shape.memoryPlace() : 0;
    for (int i = 0; i < copies.length; i++) {
      places |= copies[i] == null ? 0 : StackShape.place(i);
    }
    return places;
  }

  /// The bytes of the visible `key` are in `places`; 0 if it is not visible any more.
  void readable(BlockKey key, int places) {
    if (readable != null) {
      readable.set(key, places);
    }
  }

  /// Adds `more`, 1 or −1, to the visible blocks on `level` of the ledger.
  void visible(int level, int more) {
    visible += more;
    visibleOnLevel[level] += more;
  }

  /// Adds `more` to the blocks with bytes in the store of `level`.
  void stored(int level, int more) {
    storedOnLevel[level] += more;
  }

  /// Adds `more` to the blocks whose memory the host level pays for.
  void onHostLevel(int more) {
    storedOnLevel[shape.host()] += more;
  }

  /// Adds `more` to the blocks, visible or still leased, with bytes in stores alone.
  void inStoresOnly(int more) {
    inStoresOnly += more;
  }

  /// Counts `blocks` that were copied, or handed over, to `level`.
  void arrived(int level, int blocks) {
    arrivals[level] += blocks;
  }

  /// Counts a hit on `level` of the ledger.
  void hit(int level, boolean promoted) {
    hitsOfLevel[level]++;
    held += promoted ? 0 : 1;
  }

  /// Counts the hits and misses of a lease: `found` of `references` keys.
  void referenced(int references, int found) {
    hits += found;
    misses += references - found;
  }

  void committed(int blocks) {
    stored += blocks;
  }

  void evicted() {
    evicted++;
  }

  void evictedForRoom(int blocks) {
    evictedForRoom += blocks;
  }

  /// Adds `more`, 1 or −1, to the blocks that read leases hold.
  void leased(int more) {
    leased += more;
  }

  long leased() {
    return leased;
  }

  /// Adds `more`, 1 or −1, to the blocks with a pin of this kind.
  void pinned(Pin.Kind kind, int more) {
    pinned[kind.ordinal()] += more;
  }

  long pinned(Pin.Kind kind) {
    return pinned[kind.ordinal()];
  }

  /// Counts a block that was not evicted or demoted because of `hold`.
  void passedOver(Hold hold) {
    passedOver[hold.ordinal()]++;
  }

  private TierStat.Holds holdStat(StackHolds holds) {
    return new TierStat.Holds(holds.leases(), leased, holds.mostLeased(), pinned(Pin.Kind.SOFT),
        pinned(Pin.Kind.HARD), holds.mostPinned(), passedOver[Hold.IN_USE.ordinal()],
        passedOver[Hold.LEASE.ordinal()], passedOver[Hold.SOFT_PIN.ordinal()], passedOver[Hold.HARD_PIN.ordinal()]);
  }

  void corrupt() {
    corrupt++;
  }

  void prefetched(int blocks) {
    prefetched += blocks;
  }

  /// Counts `blocks` that were prefetched: useful if their reader asked for them, else wasted.
  void prefetchEnded(int blocks, boolean useful) {
    prefetchedUseful += useful ? blocks : 0;
    prefetchedWasted += useful ? 0 : blocks;
  }

  TierStat stat(StackState state) {
    long claimed = state.memory().arena().claimedSlots() + inStoresOnly;
    return new TierStat(visible, shape.info().capacityBlocks(), visible * shape.blockBytes(),
        claimed * shape.blockBytes(), hits, misses, stored, evicted, corrupt, state.events().lastSequence(),
        levelStats(state),
        state.offloads().stat(held, prefetched, prefetchedUseful, prefetchedWasted, evictedForRoom,
            state.watermarks().demoted()))
        .withHolds(holdStat(state.holds()));
  }

  private List<TierStat.Level> levelStats(StackState state) {
    AttachedStores stores = state.stores();
    List<TierStat.Level> stats = new ArrayList<>(levels());
    for (int i = 0; i < levels(); i++) {
      Level level = shape.levels().get(i);
      stats.add(new TierStat.Level(level.name(), level.medium(), capacity(state, i), visibleOnLevel[i],
          storedOnLevel[i], hitsOfLevel[i], arrivals[i], stores.health(i), stores.copies(i), stores.diskStat(i)));
    }
    return stats;
  }

  /// The room of the host level may change.
  private long capacity(StackState state, int level) {
    return level == shape.host() ? state.index().hostCapacity() : shape.levels().get(level).capacityBlocks();
  }
}
