package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SpaceId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(30)
final class LedgerTest {
  private static final SpaceId SPACE = new SpaceId(1, 2);

  @ParameterizedTest
  @EnumSource(names = {"LRU", "FIFO", "ADAPTIVE"})
  void oldestUse_isThatOfTheLeastRecentlyUsedKey_ofTheLastLevelWithKeys(EvictionPolicy policy) {
    long[] now = {0};
    Ledger<Integer> ledger = new Ledger<Integer>(SPACE, policy, 2, 2).timed(() -> now[0]);
    assertThat(ledger.oldestUse()).isZero();
    for (int i = 1; i <= 4; i++) {
      now[0] = 10L * i;
      ledger.insert(key(i), i, (key, value, level) -> {});
    }
    assertThat(ledger.oldestUse()).isEqualTo(10);
    now[0] = 50;
    ledger.touch(key(1), (key, value, level) -> {});
    assertThat(ledger.oldestUse()).isEqualTo(policy == EvictionPolicy.FIFO ? 10 : 20);
    ledger.clear();
    assertThat(ledger.oldestUse()).isZero();
    assertThat(new Ledger<Integer>(SPACE, policy, 2).oldestUse()).as("not timed").isZero();
  }

  @ParameterizedTest
  @EnumSource(names = {"LRU", "FIFO"})
  void references_atRandom_areDecidedAsTheTextbookDoes(EvictionPolicy policy) {
    references_atRandom_areDecidedAsTheTextbookDoes(policy, 60);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(names = {"LRU", "FIFO"})
  void references_atRandom_areDecidedAsTheTextbookDoes_atLength(EvictionPolicy policy) {
    references_atRandom_areDecidedAsTheTextbookDoes(policy, 300);
  }

  private void references_atRandom_areDecidedAsTheTextbookDoes(EvictionPolicy policy, int seeds) {
    for (int seed = 0; seed < seeds; seed++) {
      Random random = new Random(seed);
      int capacity = 1 + random.nextInt(12);
      int keys = 1 + random.nextInt(24);
      Ledger<Integer> ledger = new Ledger<>(SPACE, policy, capacity);
      List<BlockKey> model = new ArrayList<>(); // next victim first
      for (int i = 0; i < 300; i++) {
        BlockKey key = key(random.nextInt(keys));
        String message = "seed %d, step %d".formatted(seed, i);
        switch (random.nextInt(8)) {
          case 0 -> assertThat(ledger.remove(key) != null).as(message).isEqualTo(model.remove(key));
          case 1 -> assertThat(ledger.peek(key) != null).as(message).isEqualTo(model.contains(key));
          default -> {
            List<BlockKey> victims = new ArrayList<>();
            boolean hit = reference(ledger, key, i, victims);
            assertThat(hit).as(message).isEqualTo(model.contains(key));
            List<BlockKey> expected = modelReference(model, key, policy, capacity);
            assertThat(victims).as(message).isEqualTo(expected);
          }
        }
        assertThat(ledger.size()).as(message).isEqualTo(model.size()).isLessThanOrEqualTo(capacity);
      }
      assertThat(ledger.clear()).hasSize(model.size());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"LRU", "FIFO"})
  void levels_cutTheOrderOfOnePolicy_soHitsAndVictimsDoNotDependOnThem(EvictionPolicy policy) {
    levels_cutTheOrderOfOnePolicy_soHitsAndVictimsDoNotDependOnThem(policy, 60);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(names = {"LRU", "FIFO"})
  void levels_cutTheOrderOfOnePolicy_soHitsAndVictimsDoNotDependOnThem_atLength(EvictionPolicy policy) {
    levels_cutTheOrderOfOnePolicy_soHitsAndVictimsDoNotDependOnThem(policy, 300);
  }

  private void levels_cutTheOrderOfOnePolicy_soHitsAndVictimsDoNotDependOnThem(EvictionPolicy policy, int seeds) {
    for (int seed = 0; seed < seeds; seed++) {
      Random random = new Random(seed);
      long[] capacities = random.longs(1 + random.nextInt(4), 1, 5).toArray();
      int capacity = (int) LongStream.of(capacities).sum();
      Ledger<Integer> ledger = new Ledger<>(SPACE, policy, capacities);
      List<BlockKey> model = new ArrayList<>(); // next victim first
      Map<BlockKey, Integer> told = new HashMap<>();
      for (int i = 0; i < 300; i++) {
        BlockKey key = key(random.nextInt(24));
        String message = "seed %d, step %d".formatted(seed, i);
        List<BlockKey> victims = new ArrayList<>();
        Ledger.Moves<Integer> moves = (moved, value, level) -> {
          if (level == capacities.length) {
            victims.add(moved);
            told.remove(moved);
          } else {
            told.put(moved, level);
          }
        };
        boolean hit = ledger.touch(key, moves) != null;
        if (!hit) {
          told.put(key, 0);
          ledger.insert(key, i, moves);
        }
        assertThat(hit).as(message).isEqualTo(model.contains(key));
        assertThat(victims).as(message).isEqualTo(modelReference(model, key, policy, capacity));
        for (int level = 0, end = model.size(); level < capacities.length; level++) {
          List<BlockKey> there = new ArrayList<>();
          int at = level;
          ledger.forEach(level, (each, value) -> {
            there.add(each);
            assertThat(told.get(each)).as(message).isEqualTo(at).isEqualTo(ledger.level(each));
          });
          int start = Math.max(0, end - (int) capacities[level]);
          assertThat(there).as("%s, level %d", message, level).isEqualTo(model.subList(start, end))
              .hasSize(ledger.size(level));
          end = start;
        }
      }
    }
  }

  private static <V> Ledger.Moves<V> noneMoves() {
    return (key, value, level) -> {
      throw new AssertionError("no key may move (was " + key + " to level " + level + ")");
    };
  }

  @Test
  void clear_answersWhatWasRemembered_nextVictimFirst() {
    Ledger<String> ledger = new Ledger<>(SPACE, EvictionPolicy.LRU, Ledger.UNBOUNDED);
    for (int i = 0; i < 4; i++) {
      ledger.insert(key(i), "v" + i, noneMoves());
    }
    ledger.touch(key(1), noneMoves());
    ledger.peek(key(0));
    ledger.update(key(2), "new");
    assertThat(ledger.clear()).containsExactly("v0", "new", "v3", "v1");
    assertThat(ledger.size()).isZero();
  }

  @Test
  void misuse_isRefused() {
    Ledger<String> ledger = new Ledger<>(SPACE, EvictionPolicy.LRU, 1);
    ledger.insert(key(1), "a", (key, value, level) -> {});
    assertThatThrownBy(() -> ledger.insert(key(1), "b", (key, value, level) -> {}))
        .isInstanceOf(IllegalStateException.class);
    assertThat(ledger.peek(key(1))).isEqualTo("a");
    assertThatThrownBy(() -> ledger.update(key(2), "b")).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> new Ledger<String>(SPACE, EvictionPolicy.LRU, 0))
        .hasMessage("capacityBlocks must be > 0 (was 0)");
  }

  @ParameterizedTest
  @CsvSource({"1000,12831", "5000,31840", "10000,60921", "30000,93967", "50000,102290", "100000,104924",
    "9223372036854775807,105710"})
  void conversationTrace_givesTheHitsOfAPlainLru(long capacity, int hits) {
    List<BlockKey> trace = ConversationTrace.references(SPACE);
    assertThat(trace).hasSize(288_500);
    Ledger<Integer> ledger = new Ledger<>(SPACE, EvictionPolicy.LRU, capacity);
    int found = 0;
    for (BlockKey key : trace) {
      found += reference(ledger, key, 0, new ArrayList<>(1)) ? 1 : 0;
    }
    assertThat(found).isEqualTo(hits);
  }

  private static boolean reference(Ledger<Integer> ledger, BlockKey key, int value, List<BlockKey> victims) {
    if (ledger.touch(key, noneMoves()) != null) {
      return true;
    }
    ledger.insert(key, value, (victim, old, level) -> victims.add(victim));
    return false;
  }

  private static List<BlockKey> modelReference(List<BlockKey> model, BlockKey key, EvictionPolicy policy,
      int capacity) {
    if (model.contains(key)) {
      if (policy == EvictionPolicy.LRU) {
        model.remove(key);
        model.add(key);
      }
      return List.of();
    }
    model.add(key);
    return model.size() > capacity ? List.of(model.removeFirst()) : List.of();
  }

  private static BlockKey key(long id) {
    return new BlockKey(SPACE, new BlockHash(0, id));
  }

  @Test
  void demoteNext_movesTheNextVictimDown_thoughItsLevelHasRoom() {
    Ledger<String> ledger = new Ledger<>(SPACE, EvictionPolicy.LRU, 8, 8);
    for (int i = 0; i < 3; i++) {
      ledger.insert(key(i), "v" + i, (key, value, level) -> {});
    }
    ledger.touch(key(0), (key, value, level) -> {});
    List<String> moved = new ArrayList<>();
    assertThat(ledger.demoteNext(0, (key, value, level) -> moved.add(value + "@" + level))).isTrue();
    assertThat(moved).containsExactly("v1@1");
    assertThat(ledger.capacity(0)).isEqualTo(8);
    assertThat(ledger.size()).isEqualTo(3);
  }

  @Test
  void demoteNext_evictsWhatThePolicyValuesLeast_andNothingThatIsHeld() {
    Ledger<String> ledger = new Ledger<>(SPACE, EvictionPolicy.LFU, 8);
    for (int i = 0; i < 3; i++) {
      ledger.insert(key(i), "v" + i, (key, value, level) -> {});
    }
    ledger.touch(key(0), (key, value, level) -> {});
    ledger.touch(key(1), (key, value, level) -> {});
    List<String> moved = new ArrayList<>();
    assertThat(ledger.demoteNext(0, (key, value, level) -> moved.add(value + "@" + level))).isTrue();
    assertThat(moved).as("the least recently used was used").containsExactly("v2@1");
    ledger.gate(new Ledger.Gate<>() {
      @Override
      public boolean takes(String value, int level) {
        return true;
      }

      @Override
      public Hold hold(String value) {
        return Hold.SOFT_PIN;
      }
    });
    assertThat(ledger.demoteNext(0, (key, value, level) -> moved.add(value))).isFalse();
    assertThat(moved).hasSize(1);
    assertThat(ledger.size()).isEqualTo(2);
  }
}
