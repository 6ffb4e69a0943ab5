package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.testkit.Race;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// One writer and two readers of an index of tiny segments, so that copies and splits meet every read.
///
/// Each key has a history of versions: the writer announces a version before it changes the index, and confirms it
/// afterwards. A reader notes the confirmed version before its call and the announced version after it. The answer must
/// be that of one version from the first to the second: this is linearisability for each key.
@Timeout(120)
final class PrefixIndexRaceTest {
  private static final int KEYS = 96;
  private static final int READERS = 2;
  private static final List<BlockKey> NAMES = names();

  private static List<BlockKey> names() {
    List<BlockKey> names = new ArrayList<>();
    for (int number = 0; number < KEYS; number++) {
      names.add(PrefixIndexTest.key(number));
    }
    return names;
  }

  @Test
  void answers_areThoseOfAMomentWithinTheCall() {
    run(40, 3000);
  }

  @Tag("proof")
  @Test
  void answers_areThoseOfAMomentWithinTheCall_inManyRounds() {
    run(4000, 3000);
  }

  private static void run(int seeds, int changes) {
    AtomicInteger calls = new AtomicInteger();
    try (Race race = new Race(1 + READERS)) {
      for (int seed = 0; seed < seeds; seed++) {
        Round round = new Round(seed, seed % 4 == 0 ? 3 : -1, changes);
        race.run(round::write, () -> calls.addAndGet(round.read(1)), () -> calls.addAndGet(round.read(2)));
      }
    }
    assertThat(calls.get()).as("calls of readers beside the writer").isGreaterThan(seeds);
  }

  /// The places of a key at `version`: absent at even versions. Odd versions differ from their neighbours.
  private static int places(int version) {
    return version % 2 == 0 ? 0 : 1 + version / 2 % 100;
  }

  private static final class Round {
    private final PrefixIndex index;
    private final int seed;
    private final int changes;
    private final AtomicIntegerArray announced = new AtomicIntegerArray(KEYS);
    private final AtomicIntegerArray confirmed = new AtomicIntegerArray(KEYS);
    private volatile boolean over;

    Round(int seed, int hashBits, int changes) {
      this.index = new PrefixIndex(new SpaceId(1, 2), hashBits, 4);
      this.seed = seed;
      this.changes = changes;
    }

    void write() {
      Random random = new Random(seed);
      try {
        for (int i = 0; i < changes; i++) {
          int key = random.nextInt(1 + (i + KEYS) % KEYS); // few keys, then more: the index grows over and over
          int version = announced.incrementAndGet(key);
          index.set(NAMES.get(key), places(version));
          confirmed.set(key, version);
        }
      } finally {
        over = true;
      }
    }

    int read(int reader) {
      Random random = new Random(31L * seed + reader);
      int calls = 0;
      while (!over) {
        calls++;
        if (random.nextBoolean()) {
          readOne(random.nextInt(KEYS));
        } else {
          readMany();
        }
      }
      return calls;
    }

    private void readOne(int key) {
      int first = confirmed.get(key);
      int answer = index.places(NAMES.get(key));
      int last = announced.get(key);
      for (int version = first; version <= last; version++) {
        if (places(version) == answer) {
          return;
        }
      }
      throw new AssertionError("seed %d: places of key %d must be those of a version in [%d, %d] (was %d)"
          .formatted(seed, key, first, last, answer));
    }

    private void readMany() {
      int[] first = new int[KEYS];
      for (int key = 0; key < KEYS; key++) {
        first[key] = confirmed.get(key);
      }
      BitSet present = index.present(NAMES, -1);
      for (int key = 0; key < KEYS; key++) {
        int last = announced.get(key);
        if (first[key] == last && present.get(key) != (places(last) != 0)) {
          throw new AssertionError("seed %d: key %d, unchanged at version %d, must be told so (was %s)"
              .formatted(seed, key, last, present.get(key)));
        }
      }
    }
  }
}
