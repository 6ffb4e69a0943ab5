package io.penstock.pool.evict;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntSupplier;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// [TinyLfuOrder] against Caffeine itself: every hit and every victim, in order.
///
/// Caffeine admits a candidate at random once in a while. The order gets the numbers that Caffeine will draw, so that
/// the two cannot part by chance.
@Timeout(30)
final class CaffeineTest {
  private static final SpaceId SPACE = new SpaceId(5, 6);
  private static final int REFERENCES = 12_000;
  private static final int[] CAPACITIES = {1, 2, 7, 30, 100, 250};

  enum Load {
    POPULAR {
      @Override
      IntToLongFunction keys(Random random, int capacity) {
        return i -> popular(random, 8 * capacity);
      }
    },
    LOOP {
      @Override
      IntToLongFunction keys(Random random, int capacity) {
        return i -> i % (capacity * 3 / 2 + 1);
      }
    },
    SCANS {
      @Override
      IntToLongFunction keys(Random random, int capacity) {
        return i -> i / 500 % 3 == 2 ? 1_000_000 + i : popular(random, 3 * capacity);
      }
    },
    DRIFT {
      @Override
      IntToLongFunction keys(Random random, int capacity) {
        return i -> i / 20 + popular(random, 4 * capacity);
      }
    };

    abstract IntToLongFunction keys(Random random, int capacity);

    private static long popular(Random random, int keys) {
      return (long) (keys * Math.pow(random.nextDouble(), 3));
    }
  }

  @ParameterizedTest
  @EnumSource(Load.class)
  void everyDecision_isThatOfCaffeine(Load load) {
    for (int capacity : CAPACITIES) {
      IntToLongFunction keys = load.keys(new Random(capacity), capacity);
      IntSupplier draws = futureDraws();
      Theirs theirs = new Theirs(capacity);
      Ours ours = new Ours(capacity, draws);
      for (int i = 0; i < REFERENCES; i++) {
        long key = keys.applyAsLong(i);
        String expected = theirs.use(key);
        String actual = ours.use(key);
        if (!expected.equals(actual)) {
          throw new AssertionError("%s, capacity %d, step %d, key %d: decision must be %s (was %s)".formatted(load,
              capacity, i, key, expected, actual));
        }
      }
    }
  }

  /// The hash of a key is that of the sketch, so that equal keys share equal counters.
  private record Key(long id) {
    @Override
    public int hashCode() {
      return Long.hashCode(block(id).hash().low() ^ Long.rotateLeft(block(id).hash().high(), 32));
    }
  }

  private static BlockKey block(long id) {
    return new BlockKey(SPACE, new BlockHash(id * 0x9E3779B97F4A7C15L, id));
  }

  private static String decision(boolean hit, List<Long> victims) {
    String decision = hit + " " + victims;
    victims.clear();
    return decision;
  }

  private static final class Theirs {
    private final List<Long> victims = new ArrayList<>();
    private final Cache<Key, Boolean> cache;

    Theirs(int capacity) {
      this.cache = Caffeine.newBuilder().maximumSize(capacity).executor(Runnable::run)
          .evictionListener((Key key, Boolean value, RemovalCause cause) -> victims.add(key.id)).build();
    }

    String use(long id) {
      boolean hit = cache.getIfPresent(new Key(id)) != null;
      if (!hit) {
        cache.put(new Key(id), true);
      }
      cache.cleanUp(); // it defers reads otherwise
      return decision(hit, victims);
    }
  }

  private static final class Ours {
    private final List<Long> victims = new ArrayList<>();
    private final KeyTable rows = new KeyTable(SPACE, -1);
    private final TinyLfuOrder order;
    private final int capacity;

    Ours(int capacity, IntSupplier draws) {
      this.capacity = capacity;
      this.order = new TinyLfuOrder(capacity, rows::key, draws);
    }

    String use(long id) {
      int row = rows.find(block(id));
      if (row != KeyTable.NONE) {
        order.touched(row, block(id), 0);
        return decision(true, victims);
      }
      order.missed(block(id));
      if (rows.size() == capacity) {
        int victim = order.victim(each -> true);
        victims.add(rows.key(victim).hash().low());
        order.evicted(victim, rows.key(victim));
        rows.remove(victim);
      }
      order.inserted(rows.add(block(id)), block(id), 0);
      return decision(false, victims);
    }
  }

  // The random numbers of this thread that come next: its generator adds and mixes, and mixing has an inverse

  private static final long GAMMA = 0x9E3779B97F4A7C15L;
  private static final long FIRST = 0xFF51AFD7ED558CCDL;
  private static final long SECOND = 0xC4CEB9FE1A85EC53L;

  private static IntSupplier futureDraws() {
    long[] state = {unmixed(ThreadLocalRandom.current().nextLong())};
    IntSupplier draws = () -> {
      long mixed = (state[0] += GAMMA);
      mixed = (mixed ^ (mixed >>> 33)) * FIRST;
      return (int) (((mixed ^ (mixed >>> 33)) * SECOND) >>> 32);
    };
    assumeTrue(draws.getAsInt() == ThreadLocalRandom.current().nextInt(), "another JDK draws other numbers");
    return draws;
  }

  private static long unmixed(long mixed) {
    long value = (mixed ^ (mixed >>> 33)) * inverse(SECOND);
    value = (value ^ (value >>> 33)) * inverse(FIRST);
    return value ^ (value >>> 33);
  }

  /// The number that multiplied with an odd `value` gives 1, by Newton's method.
  private static long inverse(long value) {
    long inverse = value;
    for (int i = 0; i < 5; i++) {
      inverse *= 2 - value * inverse;
    }
    return inverse;
  }
}
