package io.penstock.pool.evict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.pool.EvictionOrderTest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The tables of primitives that ledgers and orders consist of, each against a collection of the JDK.
@Timeout(30)
final class RowTablesTest {
  private static final SpaceId SPACE = EvictionOrderTest.key(0).space();
  private static final int CHUNK_ROWS = 1 << 12;

  private static BlockKey key(long id) {
    return EvictionOrderTest.key(id);
  }

  // IntRows

  @ParameterizedTest
  @ValueSource(ints = {0, -1})
  void rowsWithoutWidth_areRefused(int width) {
    assertThatThrownBy(() -> new IntRows(width)).hasMessage("width must be > 0 (was " + width + ")");
  }

  @Test
  void rowsGivenBack_areTakenFirst_theLastOneFirst() {
    IntRows rows = new IntRows(1);
    for (int i = 0; i < 20; i++) {
      assertThat(rows.take()).isEqualTo(i);
    }
    rows.give(3);
    rows.give(17);
    assertThat(rows.size()).isEqualTo(18);
    assertThat(List.of(rows.take(), rows.take(), rows.take())).containsExactly(17, 3, 20);
    assertThat(rows.size()).isEqualTo(21);
    rows.clear();
    assertThat(rows.size()).isZero();
    assertThat(rows.take()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 3", "3, 8"})
  void rows_keepTheirValuesAcrossChunks(int seed, int width) {
    Random random = new Random(seed);
    IntRows rows = new IntRows(width);
    Map<Integer, int[]> model = new HashMap<>();
    List<Integer> taken = new ArrayList<>();
    for (int step = 0; step < 4 * CHUNK_ROWS; step++) {
      if (taken.isEmpty() || random.nextInt(4) > 0) {
        int row = rows.take();
        int[] values = random.ints(width).toArray();
        for (int i = 0; i < width; i++) {
          rows.set(row, i, values[i]);
        }
        assertThat(model.put(row, values)).as("seed %d, step %d: a row has one taker", seed, step).isNull();
        taken.add(row);
      } else {
        int at = random.nextInt(taken.size());
        int row = taken.set(at, taken.getLast());
        taken.removeLast();
        model.remove(row);
        rows.give(row);
      }
    }
    assertThat(rows.size()).isEqualTo(model.size()).isGreaterThan(CHUNK_ROWS);
    model.forEach((row, values) -> {
      for (int i = 0; i < width; i++) {
        if (rows.get(row, i) != values[i]) {
          throw new AssertionError("seed %d: row %d must keep its values".formatted(seed, row));
        }
      }
    });
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 0xFFFF_FFFFL, 0x8000_0000L, -0x8000_0000L})
  void longs_areKeptWhole(long value) {
    IntRows rows = new IntRows(3);
    int row = rows.take();
    rows.set(row, 0, 7);
    rows.setLong(row, 1, value);
    assertThat(rows.getLong(row, 1)).isEqualTo(value);
    assertThat(rows.get(row, 0)).isEqualTo(7);
    LongColumn column = new LongColumn();
    column.set(CHUNK_ROWS + 1, value);
    assertThat(column.get(CHUNK_ROWS + 1)).isEqualTo(value);
    assertThat(column.get(CHUNK_ROWS)).isZero();
    column.clear();
    assertThat(column.get(CHUNK_ROWS + 1)).isZero();
  }

  @Test
  void discardedRows_leaveTheLaterOnes() {
    IntRows rows = new IntRows(1);
    for (int i = 0; i < 3 * CHUNK_ROWS; i++) {
      rows.set(rows.take(), 0, i);
    }
    for (int i = 0; i <= 2 * CHUNK_ROWS; i++) {
      rows.discard(i);
    }
    assertThat(rows.get(2 * CHUNK_ROWS, 0)).isEqualTo(2 * CHUNK_ROWS);
    assertThat(rows.get(3 * CHUNK_ROWS - 1, 0)).isEqualTo(3 * CHUNK_ROWS - 1);
    assertThatThrownBy(() -> rows.get(2 * CHUNK_ROWS - 1, 0)).isInstanceOf(ArrayIndexOutOfBoundsException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 63, 64, 65, CHUNK_ROWS - 1, CHUNK_ROWS, (1 << 14) - 1, 1 << 14, 1 << 20})
  void columns_growToAnyRow_andAreZeroBefore(int row) {
    IntColumn ints = new IntColumn();
    assertThat(ints.get(row)).isZero();
    ints.set(row, -5);
    assertThat(ints.get(row)).isEqualTo(-5);
    assertThat(ints.get(row == 0 ? 1 : row - 1)).isZero();
    LevelBytes levels = new LevelBytes();
    levels.set(0, 3);
    levels.set(row, 126);
    assertThat(levels.get(row)).isEqualTo(126);
    assertThat(levels.get(0)).isEqualTo(row == 0 ? 126 : 3);
  }

  // KeyTable

  @ParameterizedTest
  @CsvSource({"1, -1", "2, 31", "3, 1", "4, 0"})
  void keysAtRandom_areFoundAsInAMap(int seed, int hashBits) {
    Random random = new Random(seed);
    KeyTable table = new KeyTable(SPACE, hashBits);
    Map<BlockKey, Integer> model = new HashMap<>();
    int keys = hashBits < 0 ? 3_000 : 60;
    for (int step = 0; step < 20_000; step++) {
      BlockKey key = key(random.nextInt(keys));
      Integer row = model.get(key);
      assertThat(table.find(key)).as("seed %d, step %d", seed, step).isEqualTo(row == null ? KeyTable.NONE : row);
      if (row == null) {
        int added = table.add(key);
        model.put(key, added);
        assertThat(table.before(added)).as("a ring of its own").isEqualTo(table.after(added)).isEqualTo(added);
        table.value(added, step);
      } else if (random.nextInt(3) > 0) {
        assertThat(table.key(row)).isEqualTo(key);
        table.remove(row);
        model.remove(key);
      }
      assertThat(table.size()).isEqualTo(model.size());
    }
    Set<BlockKey> scanned = new HashSet<>();
    int calls = 0;
    for (int from = 0; from >= 0; calls++) {
      from = table.scan(from, 100, scanned::add);
    }
    assertThat(scanned).isEqualTo(model.keySet());
    assertThat(calls).as("seed %d", seed).isLessThanOrEqualTo(model.size() / 100 + 1);
    table.clear();
    assertThat(table.size()).isZero();
    assertThat(table.find(key(1))).isEqualTo(KeyTable.NONE);
  }

  /// Linear hashing moves rows to later buckets only, so a scan that goes on meets every key that stayed.
  @Test
  void scan_besideInsertions_missesNoKeyThatStays() {
    KeyTable table = new KeyTable(SPACE, -1);
    Set<BlockKey> stay = new HashSet<>();
    for (int id = 0; id < 500; id++) {
      table.add(key(id));
      stay.add(key(id));
    }
    Set<BlockKey> scanned = new HashSet<>();
    int next = 10_000;
    for (int from = 0; from >= 0 && next < 100_000;) {
      from = table.scan(from, 10, scanned::add);
      for (int i = 0; i < 5; i++) {
        table.add(key(next++));
      }
    }
    assertThat(scanned).containsAll(stay);
  }

  @Test
  void emptyTable_isScannedInOneCall() {
    KeyTable table = new KeyTable(SPACE, -1);
    assertThat(table.scan(0, 1, key -> {
      throw new AssertionError("there must be no key (was " + key + ")");
    })).isEqualTo(-1);
  }

  @Test
  void keyOfAnotherSpace_isRefused() {
    KeyTable table = new KeyTable(SPACE, -1);
    BlockKey other = new BlockKey(new SpaceId(9, 9), new BlockHash(1, 1));
    assertThatThrownBy(() -> table.find(other)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("key must be of space " + SPACE + " (was " + other + ")");
    assertThatThrownBy(() -> table.add(other)).isInstanceOf(IllegalArgumentException.class);
    assertThat(table.size()).isZero();
  }

  // RowLists, on LruList

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void lists_keepTheOrderOfLists(int seed) {
    Random random = new Random(seed);
    RowLists lists = new RowLists(3);
    List<List<Integer>> model = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    for (int step = 0; step < 10_000; step++) {
      int row = random.nextInt(30);
      int list = random.nextInt(3);
      int found = -1;
      for (int i = 0; i < 3; i++) {
        found = model.get(i).contains(row) ? i : found;
      }
      if (found < 0) {
        lists.add(list, row);
        model.get(list).add(row);
      } else {
        assertThat(lists.of(row)).as("seed %d, step %d", seed, step).isEqualTo(found);
        model.get(found).remove((Integer) row);
        if (random.nextBoolean()) {
          lists.move(row, list);
          model.get(list).add(row);
        } else {
          lists.remove(row);
        }
      }
      for (int i = 0; i < 3; i++) {
        assertThat(lists.size(i)).as("seed %d, step %d", seed, step).isEqualTo(model.get(i).size());
        if (!model.get(i).isEmpty()) {
          assertThat(lists.first(i)).as("seed %d, step %d", seed, step).isEqualTo(model.get(i).getFirst());
          assertThat(lists.last(i)).as("seed %d, step %d", seed, step).isEqualTo(model.get(i).getLast());
        }
      }
    }
  }

  @Test
  void victim_isTheFirstThatMayLeave_andThoseBeforeItGoToTheEnd() {
    RowLists lists = new RowLists(2);
    for (int row = 0; row < 5; row++) {
      lists.add(0, row);
    }
    assertThat(lists.victim(0, row -> row >= 2)).isEqualTo(2);
    assertThat(lists.first(0)).as("it stays until it is evicted").isEqualTo(2);
    assertThat(lists.last(0)).isEqualTo(1);
    assertThat(lists.victim(0, row -> false)).isEqualTo(KeyTable.NONE);
    assertThat(lists.first(0)).as("a whole turn").isEqualTo(2);
    assertThat(lists.victim(1, row -> true)).isEqualTo(KeyTable.NONE);
    lists.add(1, 9);
    assertThat(lists.victim(0, 1, row -> row == 9)).isEqualTo(9);
    assertThat(lists.victim(1, 0, row -> row == 4)).isEqualTo(4);
  }

  @Test
  void list_capacity_isChecked_andAFullListIsNotTooFull() {
    LruList list = new LruList(new RowLinks(), new LevelBytes(), 0, 1);
    assertThatThrownBy(() -> list.capacity(0)).hasMessage("capacityBlocks must be > 0 (was 0)");
    assertThatThrownBy(() -> new LruList(new RowLinks(), new LevelBytes(), 0, -1))
        .hasMessage("capacityBlocks must be > 0 (was -1)");
    RowLinks links = new RowLinks();
    LruList one = new LruList(links, new LevelBytes(), 0, 1);
    for (int row = 0; row < 2; row++) {
      assertThat(one.isTooFull()).isFalse();
      links.add(row);
      one.link(row);
    }
    assertThat(one.isTooFull()).isTrue();
    List<Integer> read = new ArrayList<>();
    one.first(1, read::add);
    one.first(99, read::add);
    one.first(0, read::add);
    assertThat(read).containsExactly(0, 0, 1);
  }

  // RowHeap

  private record Entry(int row, long priority, long put) {}

  @ParameterizedTest
  @CsvSource({"1, 5", "2, 1000", "3, 1"})
  void heap_isOrderedAsATreeIs(int seed, int priorities) {
    Random random = new Random(seed);
    RowHeap heap = new RowHeap();
    TreeSet<Entry> model = new TreeSet<>(Comparator.comparingLong(Entry::priority).thenComparingLong(Entry::put));
    Map<Integer, Entry> entries = new HashMap<>();
    for (int step = 0; step < 20_000; step++) {
      int row = random.nextInt(200);
      Entry before = entries.get(row);
      if (before == null || random.nextInt(3) > 0) {
        long priority = (long) random.nextInt(priorities) - priorities / 2;
        heap.put(row, priority);
        Entry entry = new Entry(row, priority, step);
        if (before != null) {
          model.remove(before);
        }
        model.add(entry);
        entries.put(row, entry);
      } else {
        heap.remove(row);
        model.remove(before);
        entries.remove(row);
      }
      assertThat(heap.size()).isEqualTo(model.size());
      if (!model.isEmpty() && heap.first() != model.first().row) {
        throw new AssertionError("seed %d, step %d: first must be %s (was %d)".formatted(seed, step, model.first(),
            heap.first()));
      }
    }
    while (!model.isEmpty()) {
      Entry first = model.pollFirst();
      assertThat(heap.first()).isEqualTo(first.row);
      assertThat(heap.priority(first.row)).isEqualTo(first.priority);
      heap.remove(first.row);
    }
    assertThat(heap.size()).isZero();
  }

  @Test
  void prioritiesAtTheEndsOfLong_areOrdered() {
    RowHeap heap = new RowHeap();
    heap.put(0, Long.MAX_VALUE);
    heap.put(1, Long.MIN_VALUE);
    heap.put(2, 0);
    List<Integer> order = new ArrayList<>();
    while (heap.size() > 0) {
      order.add(heap.first());
      heap.remove(heap.first());
    }
    assertThat(order).containsExactly(1, 2, 0);
  }

  @Test
  void postponedRows_makeWayForEveryOther() {
    RowHeap heap = new RowHeap();
    heap.put(0, 7);
    heap.postpone(0);
    assertThat(heap.first()).as("the only row").isZero();
    for (int row = 1; row < 100; row++) {
      heap.put(row, row % 3);
    }
    Set<Integer> first = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      first.add(heap.first());
      heap.postpone(heap.first());
    }
    assertThat(first).hasSize(100);
    heap.clear();
    assertThat(heap.size()).isZero();
    heap.put(5, 1);
    assertThat(heap.first()).isEqualTo(5);
  }

  // EvictedKeys, EvictedUses

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void evictedKeys_areForgottenOldestFirst(int seed) {
    Random random = new Random(seed);
    EvictedKeys evicted = new EvictedKeys(SPACE, 2);
    List<LinkedHashMap<BlockKey, Boolean>> model = List.of(new LinkedHashMap<>(), new LinkedHashMap<>());
    for (int step = 0; step < 5_000; step++) {
      BlockKey key = key(random.nextInt(60));
      int list = model.get(0).containsKey(key) ? 0 : model.get(1).containsKey(key) ? 1 : -1;
      assertThat(evicted.of(key)).as("seed %d, step %d", seed, step).isEqualTo(list);
      assertThat(evicted.find(key) == KeyTable.NONE).isEqualTo(list < 0);
      int other = random.nextInt(2);
      switch (random.nextInt(4)) {
        case 0 -> {
          evicted.remove(key);
          model.forEach(keys -> keys.remove(key));
        }
        case 1 -> {
          int most = random.nextInt(-2, 25);
          evicted.trim(other, most);
          while (model.get(other).size() > Math.max(0, most)) {
            model.get(other).pollFirstEntry();
          }
        }
        default -> {
          if (list < 0) {
            evicted.add(other, key);
            model.get(other).put(key, true);
          }
        }
      }
      assertThat(evicted.size(0)).isEqualTo(model.get(0).size());
      assertThat(evicted.size(1)).isEqualTo(model.get(1).size());
    }
    evicted.clear();
    assertThat(evicted.size(0) + evicted.size(1)).isZero();
  }

  @Test
  void evictedUses_areKeptForAtLeast65536Keys_andTheOldestAreForgotten() {
    int least = 1 << 16;
    EvictedUses uses = EvictedUses.of(SPACE, 1);
    for (int id = 0; id <= least; id++) {
      uses.add(key(id), id % 15 + 1, 1L << 40 | id);
    }
    assertThat(uses.uses(key(0))).as("forgotten").isZero();
    assertThat(uses.uses(key(1))).isEqualTo(2);
    assertThat(uses.last(key(least))).isEqualTo(1L << 40 | least);
    uses.remove(key(1));
    uses.remove(key(1));
    assertThat(uses.uses(key(1))).isZero();
    uses.clear();
    assertThat(uses.uses(key(2))).isZero();
  }
}
