package io.penstock.node.kvevents;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Medium;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.tier.TierHolds.BlockTokens;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The table of token ids, and the events that it goes into.
final class KvTokensTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final List<Level> DRAM = List.of(new Level("dram", Medium.HOST));

  private final KvTokens tokens = new KvTokens(4);
  private final KvTranslator translator = new KvTranslator(tokens);
  private long sequence;

  private static BlockKey key(int number) {
    return Blocks.key(SPACE, number);
  }

  private static List<BlockKey> keys(int from, int to) {
    List<BlockKey> keys = new ArrayList<>();
    for (int i = from; i < to; i++) {
      keys.add(key(i));
    }
    return keys;
  }

  /// Each block has two tokens: its number and the next.
  private void put(BlockHash before, int from, int to) {
    int[] ids = new int[2 * (to - from)];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = from + (i + 1) / 2;
    }
    tokens.add(keys(from, to), BlockTokens.of(before, keys(from, to), ids));
  }

  private void stored(int number) {
    translator.add(new TierEvent.Stored(++sequence, key(number), DRAM));
  }

  private void evicted(int number) {
    translator.add(new TierEvent.Evicted(++sequence, key(number), DRAM));
  }

  private static List<List<Integer>> ids(KvEvent event) {
    return ((KvEvent.BlockStored) event).tokens().stream()
        .map(each -> Arrays.stream(each.ids()).boxed().toList()).toList();
  }

  @Test
  void blocksOfOnePrompt_shareAnEvent_othersDoNot() {
    put(BlockHash.ROOT, 0, 2);
    put(key(9).hash(), 2, 3);
    stored(0);
    stored(1);
    stored(2);
    stored(3); // without tokens
    stored(4);

    List<KvEvent> events = translator.taken();

    assertThat(events).hasSize(3);
    assertThat(ids(events.get(0))).containsExactly(List.of(0, 1), List.of(1, 2));
    assertThat(((KvEvent.BlockStored) events.get(0)).parent()).isNull();
    assertThat(ids(events.get(1))).containsExactly(List.of(2, 3));
    assertThat(((KvEvent.BlockStored) events.get(1)).parent()).isEqualTo(key(9).hash());
    assertThat(((KvEvent.BlockStored) events.get(2)).hashes()).containsExactly(key(3).hash(), key(4).hash());
    assertThat(ids(events.get(2))).isEmpty();
  }

  @Test
  void tokensBeyondTheCapacity_areDroppedOldestFirst_andCounted() {
    put(BlockHash.ROOT, 0, 6);
    assertThat(tokens.size()).isEqualTo(4);
    assertThat(tokens.dropped()).isEqualTo(2);
    assertThat(tokens.claimed(key(1).hash())).isNull();
    assertThat(requireNonNull(tokens.claimed(key(2).hash())).ids()).containsExactly(2, 3);

    KvTokens none = new KvTokens(0);
    none.add(keys(0, 1), BlockTokens.of(BlockHash.ROOT, keys(0, 1), new int[] {1}));
    assertThat(none.size()).isZero();
    tokens.add(keys(7, 8), Map.of());
    assertThat(tokens.size()).isEqualTo(4);
  }

  @Test
  void evictedBlock_losesItsTokens_butNotThoseOfANewerPut() {
    put(BlockHash.ROOT, 0, 1);
    stored(0);
    put(BlockHash.ROOT, 0, 1); // again, before the eviction of the first block is heard of
    evicted(0);
    assertThat(tokens.size()).isEqualTo(1);
    stored(0);
    assertThat(ids(translator.taken().getLast())).containsExactly(List.of(0, 1));
    evicted(0);
    assertThat(tokens.size()).isZero();
  }

  /// A publisher that fell behind sees no evictions; the snapshot tells it what is there.
  @Test
  void snapshot_dropsTokensOfBlocksThatItDoesNotName() {
    put(BlockHash.ROOT, 0, 3);
    stored(0);
    stored(1);
    translator.add(new TierEvent.SnapshotStarted(++sequence, List.of()));
    translator.add(new TierEvent.Present(sequence, key(1), DRAM));
    translator.add(new TierEvent.SnapshotEnded(sequence));
    assertThat(tokens.claimed(key(0).hash())).isNull();
    assertThat(tokens.claimed(key(1).hash())).isNotNull();
    assertThat(tokens.claimed(key(2).hash())).as("its put goes on").isNotNull();
  }
}
