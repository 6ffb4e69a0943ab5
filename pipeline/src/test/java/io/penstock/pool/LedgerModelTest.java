package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SpaceId;
import io.penstock.pool.evict.KeyTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The ledger against [LedgerModel]: every answer, every move, in order.
@Timeout(60)
final class LedgerModelTest {
  private static final SpaceId SPACE = new SpaceId(0x1234, 0x5678);

  @ParameterizedTest
  @CsvSource({"-1, 4, 12000, 3000", "3, 20, 400, 100", "255, 5, 6000, 1500", "0, 20, 100, 60"})
  void operationsAtRandom_areAnsweredAsTheModelDoes(int hashBits, int seeds, int operations, int keys) {
    compare(hashBits, seeds, operations, keys);
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"-1, 100, 12000, 3000", "3, 200, 400, 100", "255, 100, 6000, 1500", "0, 100, 100, 60"})
  void operationsOfManySeeds_areAnsweredAsTheModelDoes(int hashBits, int seeds, int operations, int keys) {
    compare(hashBits, seeds, operations, keys);
  }

  /// @param hashBits how much of the hash counts: with 3, all keys meet in four buckets
  private static void compare(int hashBits, int seeds, int operations, int keys) {
    for (int seed = 0; seed < seeds; seed++) {
      Random random = new Random(seed);
      EvictionPolicy policy = random.nextInt(4) == 0 ? EvictionPolicy.FIFO : EvictionPolicy.LRU;
      long[] capacities = random.longs(1 + random.nextInt(4), 1, 1 + keys / 2).toArray();
      if (random.nextInt(5) == 0) {
        capacities[capacities.length - 1] = Ledger.UNBOUNDED;
      }
      Pair pair = new Pair(new Ledger<>(new KeyTable(SPACE, hashBits), policy, capacities),
          new LedgerModel<>(policy, capacities));
      for (int i = 0; i < operations; i++) {
        pair.step(random, key(random, keys), i, capacities.length, seed);
      }
      pair.compareAll(capacities.length, seed);
      assertThat(pair.ledger.clear()).as("seed %d", seed).isEqualTo(pair.model.clear());
      pair.step(random, key(random, keys), 0, capacities.length, seed);
      pair.compareAll(capacities.length, seed);
    }
  }

  /// Some are alike in one half of their hash.
  private static BlockKey key(Random random, int keys) {
    int number = random.nextInt(keys);
    return new BlockKey(SPACE, number % 3 == 0 ? new BlockHash(number, -1) : new BlockHash(-1L << 40, number));
  }

  private record Move(BlockKey key, int value, int level) {}

  /// Both, and what they told of.
  private record Pair(Ledger<Integer> ledger, LedgerModel<Integer> model, List<Move> told, List<Move> expected) {
    Pair(Ledger<Integer> ledger, LedgerModel<Integer> model) {
      this(ledger, model, new ArrayList<>(), new ArrayList<>());
    }

    private static Ledger.Moves<Integer> into(List<Move> list) {
      return new Ledger.Moves<>() {
        @Override
        public void moved(BlockKey key, Integer value, int level) {
          list.add(new Move(key, value, level));
        }

        @Override
        public void movedNumber(BlockKey key, int number, int from, int level) {
          list.add(new Move(key, number, level));
        }
      };
    }

    void step(Random random, BlockKey key, int value, int levels, int seed) {
      told.clear();
      expected.clear();
      switch (random.nextInt(12)) {
        case 0 -> same(warm(key).remove(key), model.remove(key), seed, value);
        case 1 -> same(ledger.number(key) >= 0 ? Integer.valueOf(ledger.number(key)) : ledger.peek(key),
            model.peek(key), seed, value);
        case 2 -> update(key, value);
        case 9, 10, 11 -> number(key, value);
        case 3, 4 -> same(warm(key).touch(key, into(told)), model.touch(key, into(expected)), seed, value);
        default -> insert(random.nextInt(4) == 0 ? random.nextInt(levels) : 0, key, value);
      }
      same(told, expected, seed, value);
      same(ledger.level(key), model.level(key), seed, value);
      same(ledger.size(), model.size(), seed, value);
    }

    private void update(BlockKey key, int value) {
      if (model.peek(key) != null) {
        ledger.update(key, value);
        model.update(key, value);
      }
    }

    /// Remembers what there is as a number from now on, or a new key with one.
    private void number(BlockKey key, int value) {
      Integer there = model.peek(key);
      if (there == null) {
        ledger.insertNumberAt(0, key, value, into(told));
        model.insertAt(0, key, value, into(expected));
      } else {
        ledger.updateNumber(key, there);
      }
    }

    /// With a value for `key`, if it is there.
    private Ledger<Integer> warm(BlockKey key) {
      int number = ledger.number(key);
      if (number >= 0) {
        ledger.update(key, number);
      }
      return ledger;
    }

    private void insert(int level, BlockKey key, int value) {
      if (model.peek(key) == null) {
        ledger.insertAt(level, key, value, into(told));
        model.insertAt(level, key, value, into(expected));
      }
    }

    /// Cheaper than an assertion, for millions of them.
    private static void same(@Nullable Object actual, @Nullable Object expected, int seed, int step) {
      if (!Objects.equals(actual, expected)) {
        throw new AssertionError("seed %d, step %d: must be %s (was %s)".formatted(seed, step, expected, actual));
      }
    }

    void compareAll(int levels, int seed) {
      for (int level = 0; level < levels; level++) {
        model.forEach(level, (key, value) -> warm(key));
      }
      for (int level = 0; level < levels; level++) {
        List<String> there = new ArrayList<>();
        List<String> wanted = new ArrayList<>();
        ledger.forEach(level, (key, value) -> there.add(key + "=" + value));
        model.forEach(level, (key, value) -> wanted.add(key + "=" + value));
        assertThat(there).as("seed %d", seed).isEqualTo(wanted).hasSize(ledger.size(level)).hasSize(model.size(level));
      }
    }
  }

  /// Growing through many rounds of buckets and chunks of rows loses no key, and removed keys make room for new ones.
  @Test
  void manyKeys_thatComeAndGo_areAllFound() {
    int keys = 200_000;
    Ledger<Integer> ledger = new Ledger<>(SPACE, EvictionPolicy.LRU, keys / 2);
    int[] evicted = {0};
    for (int i = 0; i < keys; i++) {
      ledger.insert(numbered(i), i, (key, value, level) -> {
        assertThat(key).isEqualTo(numbered(value));
        evicted[0]++;
      });
    }
    assertThat(evicted[0]).isEqualTo(keys / 2);
    assertThat(LongStream.range(0, keys).filter(i -> ledger.peek(numbered(i)) != null)).hasSize(keys / 2);
    for (int i = keys / 2; i < keys; i++) {
      assertThat(ledger.remove(numbered(i))).isEqualTo(i);
    }
    assertThat(ledger.size()).isZero();
  }

  @Test
  void keyOfAnotherSpace_isRefused() {
    Ledger<Integer> ledger = new Ledger<>(SPACE, EvictionPolicy.LRU, 1);
    assertThatThrownBy(() -> ledger.peek(new BlockKey(new SpaceId(1, 1), new BlockHash(1, 1))))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static BlockKey numbered(long number) {
    return new BlockKey(SPACE, new BlockHash(number * 0x9E3779B97F4A7C15L, number));
  }
}
