package io.penstock.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// What a [BlockStore] promises of what stored in it: its places, its numbers, and what is found after a restart.
interface StoreKeepContract extends StoreSteps {
  @Test
  default void closedRest_freesItsPlace_once() {
    BlockStore store = open(4);
    List<StoredBlock> stored = new ArrayList<>(put(store, 0, 4));
    for (int next = 4; next < 50; next++) {
      StoredBlock oldest = stored.removeFirst();
      oldest.close();
      oldest.close();
      stored.addAll(put(store, next, next + 1));
    }
    assertReadable(store, stored);
    assertStored(store, 4);
  }

  @Test
  default void put_beyondThePlaces_failsAndTakesNone() {
    BlockStore store = open(4);
    assumeTrue(store.capacityBlocks() == 4, "places are not counted");
    List<StoredBlock> stored = put(store, 0, 3);
    List<Block> two = blocks(3, 5);
    assertThatThrownBy(() -> store.put(two).block(PATIENCE)).isInstanceOf(KvException.class)
        .hasMessageContaining(store.name());
    two.forEach(Block::close);
    assertReadable(store, stored);
    assertReadable(store, put(store, 3, 4));
    assertStored(store, 4);
  }

  @Test
  default void sameKey_putTwice_isStoredTwice() {
    BlockStore store = open(2);
    StoredBlock first = put(store, 0, 1).getFirst();
    StoredBlock second = put(store, 0, 1).getFirst();
    first.close();
    assertReadable(store, List.of(second));
    assertStored(store, 1);
  }

  @Test
  default void number_standsForABlock_untilItIsARestAgain() {
    BlockStore store = open(PLACES);
    List<StoredBlock> stored = put(store, 0, 6);
    List<Integer> numbers = stored.stream().map(store::toNumber).toList();
    assumeTrue(numbers.getFirst() != BlockStore.NO_NUMBER, "a store with numbers");
    assertThat(numbers).doesNotHaveDuplicates();
    assertThat(stored).allMatch(StoredBlock::isClosed);
    List<StoredBlock> again = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      again.add(store.fromNumber(ALL.get(i), numbers.get(i)));
    }
    assertReadable(store, again);
    again.forEach(StoredBlock::close);
    assertStored(store, 0);
  }

  @Test
  default void number_ofAClosedStore_isFoundAgain_andMayBeTheOwners() {
    BlockStore store = open(PLACES);
    List<StoredBlock> stored = put(store, 0, 3);
    assumeTrue(stored.stream().mapToInt(store::toNumber).min().orElseThrow() != BlockStore.NO_NUMBER,
        "a store with numbers");
    store.close().block(PATIENCE);
    BlockStore reopened = contract().reopenStore(store);
    assumeTrue(reopened != null, "a store that does not forget");
    Found found = new Found();
    contract().watched(requireNonNull(reopened)).recover(found);
    reopened.recover(found);
    assertThat(found.keys).isEqualTo(ALL.subList(0, 3));
    List<StoredBlock> again = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      again.add(reopened.fromNumber(found.keys.get(i), found.numbers.get(i)));
    }
    assertReadable(reopened, again);
    again.forEach(StoredBlock::close);
    assertStored(reopened, 0);
  }

  @Test
  default void recovered_isWhatWasStored_once() {
    BlockStore store = open(PLACES);
    assertThat(store.recovered()).isEmpty();
    List<StoredBlock> stored = put(store, 0, 5);
    put(store, 1, 2);
    stored.get(1).close();
    stored.get(3).close();
    store.close().block(PATIENCE);
    BlockStore reopened = contract().reopenStore(store);
    if (reopened != null) {
      contract().watched(reopened);
      List<StoredBlock> found = reopened.recovered();
      assertThat(keysOf(found)).containsExactly(ALL.get(0), ALL.get(2), ALL.get(4), ALL.get(1));
      assertReadable(reopened, found);
      assertThat(reopened.recovered()).isEmpty();
    }
  }

  @Test
  default void manyThreads_putReadAndFree_withoutMixingAnythingUp() {
    BlockStore store = open(PLACES);
    try (Race race = new Race(4)) {
      for (int round = 0; round < 15; round++) {
        int seed = round;
        race.run(() -> churn(store, 0, seed), () -> churn(store, 1, seed), () -> churn(store, 2, seed),
            () -> churn(store, 3, seed));
      }
    }
    assertStored(store, 0);
  }

  /// One thread's share: never more than its part of the places.
  private void churn(BlockStore store, int lane, long seed) {
    Random random = new Random(seed * 4 + lane);
    List<StoredBlock> stored = new ArrayList<>();
    for (int step = 0; step < 10; step++) {
      int more = 1 + random.nextInt(8);
      int from = lane * 200 + random.nextInt(150);
      stored.addAll(put(store, from, from + more));
      stored.replaceAll(block -> random.nextBoolean() ? numberedOnce(store, block) : block);
      assertReadable(store, stored);
      while (stored.size() > 8) {
        stored.remove(random.nextInt(stored.size())).close();
      }
    }
    stored.forEach(StoredBlock::close);
  }

  private static StoredBlock numberedOnce(BlockStore store, StoredBlock block) {
    int number = store.toNumber(block);
    return number == BlockStore.NO_NUMBER ? block : store.fromNumber(block.key(), number);
  }

  final class Found implements BlockStore.Recovered {
    final List<BlockKey> keys = new ArrayList<>();
    final List<Integer> numbers = new ArrayList<>();

    @Override
    public void stored(StoredBlock block) {
      throw new AssertionError("a store with numbers must tell of them (was " + block + ")");
    }

    @Override
    public void numbered(BlockKey key, int number) {
      keys.add(key);
      numbers.add(number);
    }
  }
}
