package io.penstock.tier;

import io.penstock.tier.TierStack.Level;
import java.util.ArrayList;
import java.util.List;

/// Counts of a [TierStack], kept as things happen, so that asking costs little. Used in decisions only.
final class StackFigures {
  private final StackShape shape;
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

  StackFigures(StackShape shape) {
    this.shape = shape;
    int levels = shape.levels().size();
    this.hitsOfLevel = new long[levels];
    this.arrivals = new long[levels];
    this.visibleOnLevel = new long[levels];
    this.storedOnLevel = new long[levels];
  }

  int levels() {
    return hitsOfLevel.length;
  }

  /// `more` visible blocks, 1 or −1, are on `level` of the ledger.
  void visible(int level, int more) {
    visible += more;
    visibleOnLevel[level] += more;
  }

  /// `more` blocks have bytes in the store of `level`.
  void stored(int level, int more) {
    storedOnLevel[level] += more;
  }

  /// `more` blocks have bytes that the host level pays for.
  void onHostLevel(int more) {
    storedOnLevel[shape.host()] += more;
  }

  /// `more` blocks, visible or still leased, have bytes in stores alone.
  void inStoresOnly(int more) {
    inStoresOnly += more;
  }

  /// `blocks` were copied, or handed over, to `level`.
  void arrived(int level, int blocks) {
    arrivals[level] += blocks;
  }

  /// A reference found its block on `level` of the ledger.
  void hit(int level, boolean promoted) {
    hitsOfLevel[level]++;
    held += promoted ? 0 : 1;
  }

  /// A lease of `references` keys found `found` of them.
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

  void corrupt() {
    corrupt++;
  }

  void prefetched(int blocks) {
    prefetched += blocks;
  }

  /// A reader asked for `blocks` that were prefetched for it, or left without.
  void prefetchEnded(int blocks, boolean useful) {
    prefetchedUseful += useful ? blocks : 0;
    prefetchedWasted += useful ? 0 : blocks;
  }

  TierStat stat(StackState state) {
    long claimed = state.memory().arena().claimedSlots() + inStoresOnly;
    return new TierStat(visible, shape.info().capacityBlocks(), visible * shape.blockBytes(),
        claimed * shape.blockBytes(), hits, misses, stored, evicted, corrupt, state.events().lastSequence(),
        levelStats(state.stores()),
        state.offloads().stat(held, prefetched, prefetchedUseful, prefetchedWasted, evictedForRoom));
  }

  private List<TierStat.Level> levelStats(AttachedStores stores) {
    List<TierStat.Level> stats = new ArrayList<>(levels());
    for (int i = 0; i < levels(); i++) {
      Level level = shape.levels().get(i);
      stats.add(new TierStat.Level(level.name(), level.medium(), level.capacityBlocks(), visibleOnLevel[i],
          storedOnLevel[i], hitsOfLevel[i], arrivals[i], stores.health(i), stores.copies(i), stores.diskStat(i)));
    }
    return stats;
  }
}
