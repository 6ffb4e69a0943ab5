package io.penstock.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.choice.BlockIndex;
import io.penstock.gateway.choice.Medium;
import io.penstock.gateway.choice.PromptBlocks;
import io.penstock.gateway.events.PackedEvents.Event;
import io.penstock.gateway.events.PackedEvents.Hash;
import io.penstock.gateway.events.PackedEvents.Layout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Hashes become names, and copies are counted.
final class PublisherBlocksTest {
  private static final int UNIT = 4;
  private static final PackedEvents FORM = new PackedEvents(Layout.MAP, Hash.UNSIGNED);

  private final BlockIndex index = new BlockIndex();
  private final EventCounts counts = new EventCounts();
  private final InstanceBlocks instance = new InstanceBlocks(index, 5);
  private final PublisherBlocks blocks = new PublisherBlocks(instance, counts, UNIT, 1000, true);

  private static int[] tokens(int from, int to) {
    return IntStream.range(from, to).toArray();
  }

  private static long[] names(int from, int to) {
    return PromptBlocks.names(PromptBlocks.ROOT, tokens(from, to), UNIT);
  }

  private void apply(int rank, Event... events) {
    apply(blocks, rank, events);
  }

  private static void apply(PublisherBlocks to, int rank, Event... events) {
    try {
      to.apply(EventDecoder.decode(FORM.batch(rank, events)));
    } catch (BadEventException e) {
      throw new AssertionError(e);
    }
  }

  private int has(Medium medium, long... names) {
    return index.overlap(names, -1L).on(5, medium);
  }

  @Test
  void blocks_areNamedByParentAndTokens() {
    apply(0, PackedEvents.stored(null, new long[] {11, 12}, tokens(0, 8), UNIT, "GPU"),
        PackedEvents.stored(12L, new long[] {13}, tokens(8, 12), UNIT, "GPU"));
    assertThat(has(Medium.DEVICE, names(0, 12))).isEqualTo(3);
    apply(0, PackedEvents.removed(new long[] {13}, "GPU"));
    assertThat(has(Medium.DEVICE, names(0, 12))).isEqualTo(2);
    assertThat(counts.of(EventCount.STORED)).isEqualTo(3);
    assertThat(counts.of(EventCount.REMOVED)).isEqualTo(1);
  }

  @Test
  void blocksOfAnotherSize_meetTheSameNames() {
    apply(0, PackedEvents.stored(null, new long[] {1, 2}, tokens(0, 16), 8, "GPU")); // larger
    assertThat(has(Medium.DEVICE, names(0, 16))).isEqualTo(4);
    apply(0, PackedEvents.removed(new long[] {2}, "GPU"));
    assertThat(has(Medium.DEVICE, names(0, 16))).isEqualTo(2);

    PublisherBlocks small = new PublisherBlocks(new InstanceBlocks(index, 6), counts, UNIT, 1000, true);
    apply(small, 0, PackedEvents.stored(null, new long[] {1, 2, 3}, tokens(0, 9), 3, "GPU")); // no divisor
    assertThat(index.overlap(names(0, 16), -1L).on(6, Medium.DEVICE)).isEqualTo(2);
    apply(small, 0, PackedEvents.stored(3L, new long[] {4}, tokens(9, 12), 3, "GPU"));
    assertThat(index.overlap(names(0, 16), -1L).on(6, Medium.DEVICE)).isEqualTo(3);
  }

  @Test
  void copyInHostMemory_hasNoTokens_andIsKnownByItsHash() {
    apply(0, PackedEvents.stored(null, new long[] {1}, tokens(0, 4), UNIT, "GPU"),
        PackedEvents.removed(new long[] {1}, "GPU"), // gone before the copy is reported
        PackedEvents.stored(null, new long[] {1}, new int[0], 0, "CPU"),
        PackedEvents.stored(null, new long[] {99}, new int[0], 0, "CPU"));
    assertThat(has(Medium.HOST, names(0, 4))).isEqualTo(1);
    assertThat(counts.of(EventCount.WITHOUT_TOKENS)).isEqualTo(1);
    assertThat(index.size()).isEqualTo(1);
  }

  @Test
  void copiesOnOneMedium_goOneByOne() {
    Event stored = PackedEvents.stored(null, new long[] {1}, tokens(0, 4), UNIT, "GPU");
    Event removed = PackedEvents.removed(new long[] {1}, "GPU");
    apply(0, stored, stored, stored, removed, removed);
    assertThat(has(Medium.DEVICE, names(0, 4))).isEqualTo(1);
    apply(0, removed);
    assertThat(index.size()).isZero();
    apply(0, removed, removed, stored); // an end without its beginning does not count
    assertThat(has(Medium.DEVICE, names(0, 4))).isEqualTo(1);
  }

  @Test
  void publishersOfAnInstance_countTogether() {
    PublisherBlocks second = new PublisherBlocks(instance, counts, UNIT, 1000, true);
    Event stored = PackedEvents.stored(null, new long[] {1}, tokens(0, 4), UNIT, "GPU");
    apply(blocks, 0, stored);
    apply(second, 0, PackedEvents.stored(null, new long[] {777}, tokens(0, 4), UNIT, "GPU")); // hashes differ
    apply(blocks, 0, PackedEvents.cleared());
    assertThat(has(Medium.DEVICE, names(0, 4))).isEqualTo(1);
    second.clear();
    assertThat(index.size()).isZero();
    assertThat(instance.size()).isZero();
  }

  @Test
  void ranks_haveCachesOfTheirOwn() {
    Event stored = PackedEvents.stored(null, new long[] {1}, tokens(0, 4), UNIT, "GPU");
    apply(0, stored);
    apply(3, stored);
    apply(0, PackedEvents.cleared());
    assertThat(has(Medium.DEVICE, names(0, 4))).isEqualTo(1);
    apply(3, PackedEvents.removed(new long[] {1}, "GPU"));
    assertThat(index.size()).isZero();
  }

  @Test
  void unnamedBlocks_areCountedByReason_andTheirChildrenToo() {
    apply(0, PackedEvents.stored(55L, new long[] {1, 2}, tokens(0, 8), UNIT, "GPU"),
        PackedEvents.stored(2L, new long[] {3}, tokens(8, 12), UNIT, "GPU"));
    assertThat(counts.of(EventCount.UNKNOWN_PARENT)).isEqualTo(3);
    apply(0, PackedEvents.stored(4L, new long[] {4}, tokens(0, 4), UNIT, "GPU")); // its own parent
    assertThat(counts.of(EventCount.UNKNOWN_PARENT)).isEqualTo(4);
    apply(0, PackedEvents.stored(null, new long[] {5, 6}, tokens(0, 12), UNIT, "GPU"), // a window lists more tokens
        PackedEvents.stored(null, new long[] {7}, tokens(0, 3), UNIT, "GPU"));
    assertThat(counts.of(EventCount.UNALIGNED)).isEqualTo(3);
    apply(0, PackedEvents.stored(null, new long[] {8}, tokens(0, 4), UNIT, "TAPE"));
    assertThat(counts.of(EventCount.UNKNOWN_MEDIA)).isEqualTo(1);
    assertThat(index.size()).isZero();
  }

  @Test
  void blocksInAnyOrder_getTheirNamesWhenTheirParentComes() {
    PublisherBlocks node = new PublisherBlocks(instance, counts, UNIT, 1000, false);
    Event first = PackedEvents.stored(null, new long[] {1}, tokens(0, 4), UNIT, "CPU");
    apply(node, 0, PackedEvents.stored(2L, new long[] {3, 4}, tokens(8, 16), UNIT, "CPU"),
        PackedEvents.stored(4L, new long[] {5}, tokens(16, 20), UNIT, "CPU"),
        PackedEvents.stored(1L, new long[] {2}, tokens(4, 8), UNIT, "CPU"),
        PackedEvents.removed(new long[] {5}, "CPU"));
    assertThat(index.size()).isZero();
    apply(node, 0, first, first); // a node may repeat itself
    assertThat(has(Medium.HOST, names(0, 20))).isEqualTo(4);
    apply(node, 0, PackedEvents.removed(new long[] {1}, "CPU"));
    assertThat(index.size()).isEqualTo(3);
    apply(node, 0, PackedEvents.stored(9L, new long[] {8}, tokens(4, 8), UNIT, "CPU"), PackedEvents.cleared(),
        PackedEvents.stored(null, new long[] {9}, tokens(0, 4), UNIT, "CPU"));
    assertThat(index.size()).as("a cleared block waits no longer").isEqualTo(1);
  }

  @Test
  void blocksThatWait_areBounded() {
    for (int i = 0; i < 500; i++) {
      apply(0, PackedEvents.stored(7L, new long[] {1000 + i}, tokens(10 * i, 10 * i + 4), UNIT, "GPU"));
    }
    apply(0, PackedEvents.stored(null, new long[] {7}, tokens(0, 4), UNIT, "GPU"));
    assertThat(index.size()).isEqualTo(1 + 1000 / 16);
  }

  @Test
  void childOfAKnownBlock_isNamed_thoughTheBlockBeforeItInTheEventIsNot() {
    apply(0, PackedEvents.stored(null, new long[] {1}, tokens(0, 4), UNIT, "GPU"));
    apply(0, PackedEvents.stored(55L, new long[] {1, 2}, tokens(0, 8), UNIT, "CPU"));
    assertThat(index.overlap(names(0, 8), -1L).blocks(5)).isEqualTo(2);
    assertThat(has(Medium.HOST, names(0, 8))).isEqualTo(1);
  }

  @Test
  void groupsThatKeepAPart_andOtherGroups_arePassedOver() {
    Event stored = PackedEvents.stored(null, new long[] {1}, tokens(0, 4), UNIT, "GPU");
    Event removed = PackedEvents.removed(new long[] {1}, "GPU");
    apply(0, stored.with("group_idx", 0).with("kv_cache_spec_kind", "sliding_window"), stored.with("group_idx", 1),
        stored.with("group_idx", 2), removed.with("group_idx", 0), removed.with("group_idx", 2));
    assertThat(has(Medium.DEVICE, names(0, 4))).isEqualTo(1);
    assertThat(counts.of(EventCount.OTHER_GROUPS)).isEqualTo(4);
    apply(0, removed.with("group_idx", 1));
    assertThat(index.size()).isZero();
  }

  @Test
  void adapterAndSaltAndImages_nameOtherBlocks() {
    Event stored = PackedEvents.stored(null, new long[] {1}, tokens(0, 4), UNIT, "GPU");
    apply(0, stored.with("extra_keys", List.of(List.of("tenant"))));
    assertThat(has(Medium.DEVICE, names(0, 4))).isZero();
    assertThat(has(Medium.DEVICE, PromptBlocks.names(PromptBlocks.root(null, "tenant"), tokens(0, 4), UNIT)))
        .as("vLLM's salt is in the extra keys of the first block").isEqualTo(1);
    apply(0, PackedEvents.stored(null, new long[] {2}, tokens(0, 4), UNIT, "GPU").with("lora_name", "sql")
        .with("extra_keys", List.of(List.of("sql"))));
    assertThat(has(Medium.DEVICE, PromptBlocks.names(PromptBlocks.root("sql", null), tokens(0, 4), UNIT))).isEqualTo(1);
  }

  @Test
  void blocksBeyondTheBound_leaveTheIndex_theOldestFirst() {
    PublisherBlocks few = new PublisherBlocks(instance, counts, UNIT, 3, true);
    for (int i = 0; i < 10; i++) {
      apply(few, 0, PackedEvents.stored(null, new long[] {i}, tokens(100 * i, 100 * i + 4), UNIT, "GPU"));
    }
    assertThat(index.size()).isEqualTo(3);
    assertThat(few.size()).isEqualTo(3);
    assertThat(has(Medium.DEVICE, names(900, 904))).isEqualTo(1);
    assertThat(counts.of(EventCount.DROPPED)).isEqualTo(7);
  }

  /// A tree of prompts, stored, copied, removed and cleared by chance, against counts by name.
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void copies_areThoseOfAModel(long seed) {
    Random random = new Random(seed);
    List<long[]> chains = new ArrayList<>(); // names of each block's prompt
    List<@Nullable Long> parents = new ArrayList<>();
    List<int[]> ids = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      int parent = i < 3 ? -1 : random.nextInt(i);
      int[] own = random.ints(UNIT, 0, 1000).toArray();
      ids.add(own);
      parents.add(parent < 0 ? null : hash(parent));
      long before = parent < 0 ? PromptBlocks.ROOT : chains.get(parent)[chains.get(parent).length - 1];
      long[] chain = Arrays.copyOf(parent < 0 ? new long[0] : chains.get(parent),
          parent < 0 ? 1 : chains.get(parent).length + 1);
      chain[chain.length - 1] = PromptBlocks.names(before, own, UNIT)[0];
      chains.add(chain);
      apply(0, PackedEvents.stored(parents.get(i), new long[] {hash(i)}, own, UNIT, "GPU"),
          PackedEvents.removed(new long[] {hash(i)}, "GPU"));
    }
    assertThat(index.size()).isZero();
    Map<Medium, Map<Integer, Integer>> model = new EnumMap<>(Medium.class);
    List<String> media = List.of("GPU", "CPU", "DISK");
    for (int step = 0; step < 3000; step++) {
      int block = random.nextInt(60);
      int medium = random.nextInt(3);
      Map<Integer, Integer> copies = model.computeIfAbsent(Medium.values()[medium], key -> new HashMap<>());
      if (random.nextInt(300) == 0) {
        apply(0, PackedEvents.cleared());
        model.clear();
      } else if (random.nextBoolean()) {
        boolean hasTokens = random.nextBoolean();
        apply(0, PackedEvents.stored(hasTokens ? parents.get(block) : null, new long[] {hash(block)},
            hasTokens ? ids.get(block) : new int[0], hasTokens ? UNIT : 0, media.get(medium)));
        copies.merge(block, 1, Integer::sum);
      } else {
        apply(0, PackedEvents.removed(new long[] {hash(block)}, media.get(medium)));
        copies.computeIfPresent(block, (key, had) -> had == 1 ? null : had - 1);
      }
      int looked = random.nextInt(60);
      long name = chains.get(looked)[chains.get(looked).length - 1];
      Medium fastest = Arrays.stream(Medium.values())
          .filter(each -> model.getOrDefault(each, Map.of()).containsKey(looked)).findFirst().orElse(Medium.EXPECTED);
      assertThat(index.overlap(new long[] {name}, -1L).blocks(5)).as("seed %d, step %d", seed, step)
          .isEqualTo(fastest == Medium.EXPECTED ? 0 : 1);
      assertThat(has(fastest, name)).isEqualTo(fastest == Medium.EXPECTED ? 0 : 1);
    }
    blocks.clear();
    assertThat(index.size()).isZero();
    assertThat(instance.size()).isZero();
  }

  private static long hash(int block) {
    return PromptBlocks.ofTraceId(block) ^ 12345;
  }
}
