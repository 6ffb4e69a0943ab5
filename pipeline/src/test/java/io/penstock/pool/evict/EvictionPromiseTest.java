package io.penstock.pool.evict;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SpaceId;
import io.penstock.pool.EvictionOrderTest;
import io.penstock.pool.Hold;
import io.penstock.pool.Ledger;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What the paper of each policy promises, and what a key in use does to it. [EvictionOrderTest] has every decision.
@Timeout(30)
final class EvictionPromiseTest {
  private static final SpaceId SPACE = EvictionOrderTest.key(0).space();

  /// A cache of one level that holds the keys which are in use.
  private static final class Cache implements Ledger.Gate<Long>, Ledger.Moves<Long> {
    final Ledger<Long> ledger;
    final Set<Long> used = new HashSet<>();
    final List<Long> evicted = new ArrayList<>();

    Cache(EvictionPolicy policy, long capacity) {
      this.ledger = new Ledger<Long>(SPACE, policy, capacity).gate(this);
    }

    @Override
    public boolean takes(Long value, int level) {
      return true;
    }

    @Override
    public Hold hold(Long value) {
      return used.contains(value) ? Hold.IN_USE : Hold.NONE;
    }

    @Override
    public void moved(BlockKey key, Long value, int level) {
      evicted.add(value);
    }

    boolean use(long id) {
      return use(id, 0);
    }

    /// Whether it was a hit.
    boolean use(long id, int position) {
      BlockKey key = EvictionOrderTest.key(id);
      boolean hit = ledger.touch(key, position, this) != null;
      if (!hit) {
        ledger.insert(key, id, position, this);
      }
      return hit;
    }

    void useAll(long from, long to) {
      LongStream.range(from, to).forEach(this::use);
    }

    boolean has(long id) {
      return ledger.level(EvictionOrderTest.key(id)) == 0;
    }

    long count(long from, long to) {
      return LongStream.range(from, to).filter(this::has).count();
    }
  }

  // Every policy

  @ParameterizedTest
  @EnumSource(EvictionPolicy.class)
  void cacheOfOneKey_hasTheLastKey(EvictionPolicy policy) {
    Cache cache = new Cache(policy, 1);
    for (long id = 0; id < 20; id++) {
      assertThat(cache.use(id)).isFalse();
      assertThat(cache.use(id)).as("key %d, used again at once", id).isTrue();
      assertThat(cache.ledger.size()).isEqualTo(1);
    }
    assertThat(cache.evicted).hasSize(19).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @EnumSource(EvictionPolicy.class)
  void keysUpToTheCapacity_allStay_andOneMoreEvictsOne(EvictionPolicy policy) {
    Cache cache = new Cache(policy, 50);
    for (int round = 0; round < 5; round++) {
      cache.useAll(0, 50);
    }
    assertThat(cache.evicted).isEmpty();
    cache.use(50);
    assertThat(cache.evicted).hasSize(1);
    assertThat(cache.count(0, 51)).isEqualTo(50);
  }

  @ParameterizedTest
  @EnumSource(EvictionPolicy.class)
  void keyInUse_staysHoweverManyKeysCome(EvictionPolicy policy) {
    Cache cache = new Cache(policy, 30);
    cache.useAll(0, 30);
    cache.used.addAll(List.of(3L, 17L, 29L));
    cache.useAll(100, 1_000);
    assertThat(cache.evicted).doesNotContain(3L, 17L, 29L);
    cache.used.clear();
    cache.useAll(1_000, 5_000);
    if (policy != EvictionPolicy.LFU && policy != EvictionPolicy.LENGTH_AWARE) { // they never age
      assertThat(cache.evicted).contains(3L, 17L, 29L);
    }
  }

  @ParameterizedTest
  @EnumSource(EvictionPolicy.class)
  void clear_forgetsTheHistory(EvictionPolicy policy) {
    Random random = new Random(9);
    long[] ids = random.longs(3_000, 0, 90).toArray();
    Cache fresh = new Cache(policy, 30);
    Cache cleared = new Cache(policy, 30);
    cleared.useAll(0, 500);
    cleared.useAll(0, 60);
    cleared.ledger.clear();
    cleared.evicted.clear();
    for (long id : ids) {
      assertThat(cleared.use(id)).isEqualTo(fresh.use(id));
    }
    assertThat(cleared.evicted).isEqualTo(fresh.evicted);
  }

  /// The sieve of these policies: keys that are used once do not push out keys that are used often.
  @ParameterizedTest
  @EnumSource(value = EvictionPolicy.class, names = {"LFU", "S3_FIFO", "W_TINYLFU", "ARC"})
  void scan_leavesTheOftenUsedKeys(EvictionPolicy policy) {
    Cache cache = new Cache(policy, 100);
    Cache lru = new Cache(EvictionPolicy.LRU, 100);
    for (int round = 0; round < 4; round++) {
      cache.useAll(0, 50);
      lru.useAll(0, 50);
    }
    cache.useAll(1_000, 1_200);
    lru.useAll(1_000, 1_200);
    assertThat(cache.count(0, 50)).as("of 50 keys that were used 4 times").isGreaterThanOrEqualTo(45);
    assertThat(lru.count(0, 50)).isZero();
  }

  // S3-FIFO

  @Test
  void s3Fifo_usesInTheSmallQueue_oneIsNotEnough() {
    Cache cache = new Cache(EvictionPolicy.S3_FIFO, 20);
    cache.useAll(0, 20);
    cache.use(0); // one use after the insertion
    cache.use(1);
    cache.use(1);
    cache.useAll(100, 120);
    assertThat(cache.evicted).contains(0L).doesNotContain(1L);
  }

  @Test
  void s3Fifo_keyThatWasEvictedFromTheSmallQueue_returnsToTheMainQueue() {
    Cache cache = new Cache(EvictionPolicy.S3_FIFO, 20);
    cache.useAll(0, 21);
    assertThat(cache.evicted).containsExactly(0L);
    cache.use(0); // remembered
    cache.useAll(100, 117);
    assertThat(cache.has(0)).as("17 new keys pass through the small queue").isTrue();
    Cache other = new Cache(EvictionPolicy.S3_FIFO, 20);
    other.useAll(0, 21);
    other.use(50); // not remembered
    other.useAll(100, 120);
    assertThat(other.has(50)).isFalse();
  }

  @Test
  void s3Fifo_remembersAsManyEvictedKeysAsTheMainQueueHolds() {
    int capacity = 20;
    for (int scanned = 16; scanned <= 17; scanned++) {
      Cache cache = new Cache(EvictionPolicy.S3_FIFO, capacity);
      cache.useAll(0, capacity); // all in the small queue
      cache.useAll(100, 101 + scanned); // evicts keys 0 to `scanned`
      assertThat(cache.evicted).hasSize(scanned + 1).startsWith(0L);
      cache.use(0); // evicts another key first
      cache.useAll(200, 220);
      assertThat(cache.has(0)).as("remembered after %d later evictions", scanned).isEqualTo(scanned < 17);
    }
  }

  @Test
  void s3Fifo_countsThreeUsesAtMost() {
    Cache cache = new Cache(EvictionPolicy.S3_FIFO, 10);
    cache.useAll(0, 10);
    for (int i = 0; i < 1_000; i++) {
      cache.use(0);
    }
    int laps = 0;
    for (long id = 100; cache.has(0) && id < 1_000; id++) {
      cache.use(id);
      cache.use(id);
      cache.use(id); // moves to the main queue, so that this walks on
      laps++;
    }
    assertThat(laps).as("insertions that a key of 1,000 uses survives").isLessThan(60);
  }

  // ARC

  @Test
  void arc_keyThatWasEvictedFromTheRecentKeys_returnsToTheFrequentOnes() {
    Cache cache = new Cache(EvictionPolicy.ARC, 10);
    cache.useAll(0, 10);
    cache.use(0); // the first frequent key, so that evicted keys are remembered
    cache.use(10);
    assertThat(cache.evicted).containsExactly(1L);
    cache.use(1); // remembered
    cache.use(50); // not remembered
    cache.useAll(100, 130);
    assertThat(cache.has(1)).isTrue();
    assertThat(cache.has(50)).isFalse();
  }

  /// A loop longer than the cache has no hit under LRU; ARC keeps a part once it sees that keys come back.
  @Test
  void arc_adaptsToRecencyAndToFrequency() {
    Cache cache = new Cache(EvictionPolicy.ARC, 64);
    Cache lru = new Cache(EvictionPolicy.LRU, 64);
    int arcHits = 0;
    int lruHits = 0;
    Random random = new Random(3);
    for (int i = 0; i < 20_000; i++) {
      long id = i % 2 == 0 ? random.nextInt(40) : 1_000 + i % 400;
      arcHits += cache.use(id) ? 1 : 0;
      lruHits += lru.use(id) ? 1 : 0;
    }
    assertThat(arcHits).as("hits of 20,000; LRU has %d", lruHits).isGreaterThan(lruHits * 12 / 10);
    for (long id = 5_000; id < 10_000; id++) { // only recency helps now
      cache.use(id);
      assertThat(cache.use(id)).isTrue();
    }
  }

  // W-TinyLFU

  @Test
  void tinyLfu_newKeyStays_onlyIfItIsUsedMoreOften() {
    Cache cache = new Cache(EvictionPolicy.W_TINYLFU, 100);
    for (int round = 0; round < 3; round++) {
      cache.useAll(0, 100);
    }
    cache.useAll(1_000, 1_010); // used once each
    assertThat(cache.count(0, 100)).isGreaterThanOrEqualTo(98);
    for (int i = 0; i < 8; i++) {
      cache.use(2_000);
    }
    cache.useAll(3_000, 3_010);
    assertThat(cache.has(2_000)).as("used 8 times, where others were used 3 times").isTrue();
  }

  // Scores

  @Test
  void lfu_keyThatWasPassedOver_countsAsTheMostRecentlyUsedOfThatMoment_notOfLater() {
    Cache cache = new Cache(EvictionPolicy.LFU, 10);
    cache.useAll(0, 10);
    cache.used.add(0L);
    for (long id = 100; id < 400; id++) {
      cache.use(id);
    }
    cache.used.clear();
    cache.useAll(1_000, 1_010);
    assertThat(cache.has(0)).as("a key of one use, behind ten newer ones of one use").isFalse();
  }

  /// Each search moved the time of the last use of a key in use ahead, so intervals were measured as 1 or below 0.
  @Test
  void reuseAware_keysInUse_doNotShortenTheMeasuredInterval() {
    List<Long> intervals = new ArrayList<>();
    ScoreOrder order = new ScoreOrder(new ScoreOrder.Score() {
      @Override
      public long of(int uses, int position, long now) {
        return now;
      }

      @Override
      public void reused(long interval) {
        intervals.add(interval);
      }
    });
    for (int row = 0; row < 8; row++) {
      order.inserted(row, EvictionOrderTest.key(row), 0);
    }
    for (int search = 0; search < 3; search++) {
      assertThat(order.victim(row -> false)).isEqualTo(KeyTable.NONE);
    }
    for (int row = 0; row < 8; row++) {
      order.touched(row, EvictionOrderTest.key(row), 0);
    }
    assertThat(intervals).containsOnly(8L).hasSize(8);
  }

  @Test
  void evictedUses_keepTheTimeOfTheLastUse_whateverWasPassedOver() {
    long[] last = new long[1];
    ScoreOrder order = new ScoreOrder(new ScoreOrder.Score() {
      @Override
      public long of(int uses, int position, long now) {
        return uses;
      }

      @Override
      public void evicted(BlockKey key, int uses, long lastUse, long lowest) {
        last[0] = lastUse;
      }
    });
    for (int row = 0; row < 4; row++) {
      order.inserted(row, EvictionOrderTest.key(row), 0);
    }
    order.victim(row -> false);
    order.evicted(2, EvictionOrderTest.key(2));
    assertThat(last[0]).isEqualTo(3);
  }

  /// GreedyDual: the clock is the lowest score. A dear key that had to leave before its turn must not move it ahead.
  @Test
  void costAware_keyThatLeavesBeforeItsTurn_doesNotAgeTheOthers() {
    ScoreOrder order = new ScoreOrder(new CostScore());
    order.inserted(0, EvictionOrderTest.key(0), 0); // 64
    order.inserted(1, EvictionOrderTest.key(1), 1_000_000); // dear
    order.inserted(2, EvictionOrderTest.key(2), 100); // 164
    order.evicted(1, EvictionOrderTest.key(1)); // no other could leave
    order.inserted(3, EvictionOrderTest.key(3), 0); // 64 + 64
    assertThat(order.victim(row -> true)).isZero();
    order.evicted(0, EvictionOrderTest.key(0));
    assertThat(order.victim(row -> true)).as("128 against 164").isEqualTo(3);
  }

  @Test
  void lengthAware_evictsTheLatestPosition_thenTheLeastRecentlyUsed() {
    Cache cache = new Cache(EvictionPolicy.LENGTH_AWARE, 4);
    cache.use(0, 5);
    cache.use(1, 9);
    cache.use(2, 9);
    cache.use(3, 2);
    cache.use(1, 9);
    cache.use(4, 0);
    cache.use(5, 0);
    cache.use(6, 0);
    assertThat(cache.evicted).containsExactly(2L, 1L, 0L);
  }

  /// A search looks at 8,192 keys that may not leave, not at all of them.
  @ParameterizedTest
  @ValueSource(strings = {"LFU", "S3_FIFO", "W_TINYLFU", "ARC", "COST_AWARE"})
  void searchAmongKeysThatMayNotLeave_isBounded(String name) {
    int rows = 40_000;
    EvictionOrder order = EvictionOrders.of(EvictionPolicy.valueOf(name), SPACE, rows, EvictionOrderTest::key);
    assertThat(order).isNotNull();
    for (int row = 0; row < rows; row++) {
      order.inserted(row, EvictionOrderTest.key(row), 0);
    }
    int[] asked = new int[1];
    assertThat(order.victim(row -> {
      asked[0]++;
      return false;
    })).isEqualTo(KeyTable.NONE);
    assertThat(asked[0]).isBetween(EvictionOrder.MOST_KEPT, 3 * EvictionOrder.MOST_KEPT);
    Set<Integer> seen = new HashSet<>();
    for (int search = 0; search < 8; search++) {
      order.victim(row -> {
        seen.add(row);
        return false;
      });
    }
    assertThat(seen.size()).as("each search goes on where the last one stopped").isGreaterThan(rows / 2);
  }
}
