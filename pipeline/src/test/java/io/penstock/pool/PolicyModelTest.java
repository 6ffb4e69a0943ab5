package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SpaceId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The ledger of each policy against a map: several levels, levels that take no keys for a while, keys in use, keys with
/// numbers, and keys that come back.
@Timeout(300)
final class PolicyModelTest {
  private static final SpaceId SPACE = EvictionOrderTest.key(0).space();

  @ParameterizedTest
  @EnumSource(EvictionPolicy.class)
  void operationsAtRandom_areAnsweredAsAMapDoes(EvictionPolicy policy) {
    compare(policy, 10, 1_000);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(EvictionPolicy.class)
  void aMillionOperations_areAnsweredAsAMapDoes(EvictionPolicy policy) {
    compare(policy, 100, 10_000);
  }

  private static void compare(EvictionPolicy policy, int seeds, int operations) {
    for (int seed = 0; seed < seeds; seed++) {
      Model model = new Model(policy, seed);
      try {
        for (int i = 0; i < operations; i++) {
          model.step(i);
        }
        model.compareAll();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("%s, seed %d: %s".formatted(policy, seed, e.getMessage()), e);
      }
    }
  }

  private static final class Model implements Ledger.Moves<Integer>, Ledger.Gate<Integer> {
    private record Entry(int value, boolean isNumber, int level) {}

    private final Random random;
    private final long[] capacities;
    private final boolean[] closed;
    private final Ledger<Integer> ledger;
    private final Map<BlockKey, Entry> map = new HashMap<>();
    /// Values in use: a value is the number of its key.
    private final Set<Integer> used = new HashSet<>();
    private final int keys;
    private @Nullable BlockKey entering;
    private int evicted;

    Model(EvictionPolicy policy, int seed) {
      this.random = new Random(seed);
      this.capacities = random.longs(1 + random.nextInt(4), 1, 1 + (seed % 2 == 0 ? 6 : 40)).toArray();
      this.closed = new boolean[capacities.length];
      this.keys = 2 + random.nextInt(150);
      this.ledger = new Ledger<Integer>(SPACE, policy, capacities).gate(this);
    }

    @Override
    public boolean takes(Integer value, int level) {
      return !closed[level];
    }

    @Override
    public boolean takesNumber(int level) {
      return !closed[level];
    }

    @Override
    public Hold hold(Integer value) {
      return used.contains(value) ? Hold.IN_USE : Hold.NONE;
    }

    @Override
    public void moved(BlockKey key, Integer value, int level) {
      Entry entry = Objects.requireNonNull(map.get(key), "a key that moves must be present");
      same("value", value, entry.value);
      same("has a number", false, entry.isNumber);
      move(key, entry, level);
    }

    @Override
    public void movedNumber(BlockKey key, int number, int from, int level) {
      Entry entry = Objects.requireNonNull(map.get(key), "a key that moves must be present");
      same("number", number, entry.value);
      same("has a number", true, entry.isNumber);
      same("level", from, entry.level);
      move(key, entry, level);
    }

    private void move(BlockKey key, Entry entry, int level) {
      if (level < capacities.length) {
        map.put(key, new Entry(entry.value, entry.isNumber, level));
        return;
      }
      map.remove(key);
      evicted++;
      boolean others = map.entrySet().stream().anyMatch(other -> !other.getKey().equals(entering)
          && other.getValue().level == entry.level && !isInUse(other.getValue()));
      same("in use, and others on its level are not", false, isInUse(entry) && others);
    }

    private boolean isInUse(Entry entry) {
      return !entry.isNumber && used.contains(entry.value);
    }

    void step(int step) {
      int number = random.nextInt(6) == 0 ? keys + step : random.nextInt(keys);
      BlockKey key = EvictionOrderTest.key(number);
      int position = random.nextInt(30);
      evicted = 0;
      int before = map.size();
      boolean isOpen = true;
      for (boolean each : closed) {
        isOpen &= !each;
      }
      entering = null;
      switch (random.nextInt(24)) {
        case 0 -> closed[random.nextInt(closed.length)] ^= true;
        case 1, 2 -> used.add(number);
        case 3, 4, 5 -> used.removeIf(value -> random.nextInt(3) == 0);
        case 6 -> remove(key);
        case 7, 8 -> number(key, number);
        case 9 -> insertAt(random.nextInt(capacities.length), key, number);
        case 10 -> refresh(key, position);
        case 11 -> clear();
        default -> reference(key, number, position, before, isOpen);
      }
      check(key);
    }

    private void clear() {
      if (random.nextInt(100) == 0) {
        long values = map.values().stream().filter(entry -> !entry.isNumber).count();
        assertThat(ledger.clear()).hasSize((int) values);
        map.clear();
      }
    }

    private void remove(BlockKey key) {
      Entry entry = map.get(key);
      if (entry == null || !entry.isNumber) {
        map.remove(key);
        same("removed", ledger.remove(key), entry == null ? null : entry.value);
      }
    }

    private void refresh(BlockKey key, int position) {
      warm(key);
      Entry entry = map.get(key);
      same("refreshed", ledger.refresh(key, position), entry == null ? null : entry.value);
    }

    private void number(BlockKey key, int number) {
      Entry entry = map.get(key);
      if (entry == null) {
        int level = random.nextInt(capacities.length);
        map.put(key, new Entry(number, true, level));
        entering = key;
        ledger.insertNumberAt(level, key, number, this);
      } else {
        ledger.updateNumber(key, number);
        map.put(key, new Entry(number, true, entry.level));
      }
    }

    private void insertAt(int level, BlockKey key, int number) {
      if (!map.containsKey(key)) {
        map.put(key, new Entry(number, false, level));
        entering = key;
        ledger.insertAt(level, key, number, this);
      }
    }

    private void reference(BlockKey key, int number, int position, int before, boolean isOpen) {
      warm(key);
      entering = key;
      if (map.containsKey(key)) {
        same("touched", ledger.touch(key, position, this), number);
        same("present after its use", map.containsKey(key) || !isOpen, true);
      } else {
        map.put(key, new Entry(number, false, 0));
        ledger.insert(key, number, position, this);
        boolean isFull = before == total();
        same("evicted, with all levels open", isOpen ? evicted : isFull ? 1 : 0, isFull ? 1 : 0);
      }
    }

    private int total() {
      int total = 0;
      for (long capacity : capacities) {
        total += (int) capacity;
      }
      return total;
    }

    /// Gives `key` a value, if it has a number.
    private void warm(BlockKey key) {
      Entry entry = map.get(key);
      if (entry != null && entry.isNumber) {
        ledger.update(key, entry.value);
        map.put(key, new Entry(entry.value, false, entry.level));
      }
    }

    private void check(BlockKey key) {
      Entry entry = map.get(key);
      same("level", ledger.level(key), entry == null ? -1 : entry.level);
      same("number", ledger.number(key), entry == null || !entry.isNumber ? -1 : entry.value);
      same("value", ledger.peek(key), entry == null || entry.isNumber ? null : entry.value);
      same("size", ledger.size(), map.size());
      for (int level = 0; level < capacities.length; level++) {
        same("level is within its capacity", ledger.size(level) <= capacities[level], true);
      }
    }

    void compareAll() {
      for (int level = 0; level < capacities.length; level++) {
        int at = level;
        List<BlockKey> expected = map.entrySet().stream().filter(entry -> entry.getValue().level == at)
            .map(Map.Entry::getKey).toList();
        List<BlockKey> there = new ArrayList<>(ledger.next(level, Integer.MAX_VALUE));
        assertThat(there).containsExactlyInAnyOrderElementsOf(expected);
      }
    }

    /// Cheaper than an assertion, for millions of them.
    private static void same(String what, @Nullable Object actual, @Nullable Object expected) {
      if (!Objects.equals(actual, expected)) {
        throw new AssertionError("%s must be %s (was %s)".formatted(what, expected, actual));
      }
    }
  }
}
