package io.penstock.gateway.choice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.gateway.choice.BlockIndex.Overlap;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The index and its tables against sets of names.
final class BlockIndexTest {
  /// Sets of names by instance and medium.
  private static final class Model {
    private final Map<Integer, Map<Medium, Set<Long>>> sets = new HashMap<>();

    Set<Long> of(int instance, Medium medium) {
      return sets.computeIfAbsent(instance, key -> new EnumMap<>(Medium.class)).computeIfAbsent(medium,
          key -> new HashSet<>());
    }

    long size() {
      Set<Long> all = new HashSet<>();
      sets.values().forEach(media -> media.values().forEach(all::addAll));
      return all.size();
    }

    /// Leading names on each medium as the fastest.
    int[] overlap(int instance, long[] names) {
      int[] blocks = new int[Medium.values().length];
      for (long name : names) {
        int fastest = 0;
        while (fastest < blocks.length && !of(instance, Medium.values()[fastest]).contains(name)) {
          fastest++;
        }
        if (fastest == blocks.length) {
          break;
        }
        blocks[fastest]++;
      }
      return blocks;
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void index_knowsWhatSetsKnow(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long[] names = random.longs(400).toArray();
    names[7] = 0; // the table keeps it under another key
    int[] instances = {0, 1, 31, 32, 63};
    BlockIndex index = new BlockIndex();
    Model model = new Model();
    for (int step = 0; step < 12_000; step++) {
      int instance = instances[random.nextInt(instances.length)];
      Medium medium = Medium.values()[random.nextInt(Medium.values().length)];
      long name = names[random.nextInt(names.length)];
      int action = random.nextInt(1000);
      if (action == 0) {
        index.clear(instance);
        model.sets.remove(instance);
      } else if (action < 600) {
        index.add(instance, medium, name);
        model.of(instance, medium).add(name);
      } else {
        index.remove(instance, medium, name);
        model.of(instance, medium).remove(name);
      }
      if (step % 100 == 0) {
        same(index, model, random, names, instances);
      }
    }
    assertThat(index.size()).as("seed %d", seed).isEqualTo(model.size());
    for (int instance : instances) {
      index.clear(instance);
    }
    assertThat(index.size()).isZero();
  }

  private static void same(BlockIndex index, Model model, SplittableRandom random, long[] names, int[] instances) {
    long[] prompt = IntStream.range(0, 12).mapToLong(i -> names[random.nextInt(names.length)]).toArray();
    long among = random.nextLong();
    Overlap overlap = index.overlap(prompt, among);
    for (int instance : instances) {
      int[] wanted = (among >>> instance & 1) == 1 ? model.overlap(instance, prompt) : new int[4];
      for (Medium medium : Medium.values()) {
        assertThat(overlap.on(instance, medium)).as("instance %d on %s", instance, medium)
            .isEqualTo(wanted[medium.ordinal()]);
      }
      assertThat(overlap.blocks(instance)).isEqualTo(IntStream.of(wanted).sum());
    }
    assertThat(index.size()).isEqualTo(model.size());
  }

  /// Keys whose slots are equal or neighbours, over the end of the table: each row must be found after any removal.
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void table_findsRowsOfCrowdedSlots_whateverIsTakenOut(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    BlockPlaces places = new BlockPlaces();
    Map<Long, Long> model = new HashMap<>();
    for (int step = 0; step < 12_000; step++) {
      long name = (random.nextLong(40) << 20) + 60 + random.nextLong(8); // slots 60 to 67 of 64
      long bit = 1L << random.nextInt(3);
      int medium = random.nextInt(2);
      if (random.nextInt(10) < 5) {
        places.add(name, medium, bit);
        model.merge(name, bit << (8 * medium), (had, more) -> had | more);
      } else {
        places.remove(name, medium, bit);
        model.computeIfPresent(name, (key, had) -> {
          long left = had & ~(bit << (8 * medium));
          return left == 0 ? null : left;
        });
      }
      if (step % 3000 == 2999) {
        places.forget(1);
        model.values().removeIf(had -> (had & ~0x0101L) == 0);
        model.replaceAll((key, had) -> had & ~0x0101L);
      }
      long looked = (random.nextLong(40) << 20) + 60 + random.nextLong(8);
      assertThat(places.places(looked, 0) | (places.places(looked, 1) << 8)).as("step %d", step)
          .isEqualTo(model.getOrDefault(looked, 0L));
      assertThat(places.size()).isEqualTo(model.size());
    }
  }

  @Test
  void table_grows_andShrinksToNothing() {
    BlockPlaces places = new BlockPlaces();
    for (long name = 1; name <= 20_000; name++) {
      places.add(PromptBlocks.mix(name), 0, 1);
    }
    assertThat(places.size()).isEqualTo(20_000);
    for (long name = 1; name <= 20_000; name++) {
      assertThat(places.places(PromptBlocks.mix(name), 0)).isEqualTo(1);
      places.remove(PromptBlocks.mix(name), 0, 1);
      assertThat(places.places(PromptBlocks.mix(name), 0)).isZero();
    }
    assertThat(places.size()).isZero();
  }

  @Test
  void numberOutOfRange_isRefused() {
    assertThatThrownBy(() -> new BlockIndex().add(64, Medium.HOST, 1)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("instance must be in [0, 63] (was 64)");
  }

  @Test
  void names_dependOnAdapterAndSalt_andChain() {
    int[] tokens = IntStream.range(0, 64).toArray();
    long[] plain = PromptBlocks.names(PromptBlocks.ROOT, tokens, 16);
    assertThat(plain).hasSize(4).doesNotHaveDuplicates();
    assertThat(PromptBlocks.root(null, null)).isEqualTo(PromptBlocks.ROOT);
    assertThat(PromptBlocks.names(PromptBlocks.root(null, "tenant"), tokens, 16)).doesNotContain(plain);
    assertThat(PromptBlocks.root("tenant", null)).isNotEqualTo(PromptBlocks.root("other", null));
    tokens[17]++;
    long[] changed = PromptBlocks.names(PromptBlocks.ROOT, tokens, 16);
    assertThat(changed[0]).isEqualTo(plain[0]);
    assertThat(IntStream.range(1, 4).filter(i -> changed[i] == plain[i])).isEmpty();
    assertThat(PromptBlocks.ofText(PromptBlocks.ROOT, "abcdefgh", 3)).hasSize(2);
  }
}
