package io.penstock.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.SlabArena;
import io.penstock.tier.BlockStore;
import io.penstock.tier.Rest;
import io.penstock.tier.TierClosedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/// What every [BlockStore] promises, as tests: extend it and open a store.
///
/// After each test nothing may be lent of the host memory that the blocks came from. What a store does on threads of its own is awaited.
@Timeout(60)
public abstract class BlockStoreContract {
  /// How long anything may take.
  protected static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int PLACES = 64;

  /// The space of every store under test.
  protected final CacheSpace space = Blocks.smallSpace();
  private final GranuleRange all = GranuleRange.all(space.layout());
  private final List<BlockKey> keys = Blocks.keys(space, 0, 1000);
  private final List<BlockStore> opened = new ArrayList<>();

  /// Watches the host memory of the test.
  @RegisterExtension
  protected final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", space.layout(), 1024, 4));

  /// Opens an empty store of [#space] with `capacityBlocks` places, or any number if that is not fixed.
  protected abstract BlockStore openStore(int capacityBlocks);

  /// Opens what `closed` left behind; null for a store that forgets.
  protected abstract @Nullable BlockStore reopenStore(BlockStore closed);

  /// Puts `blocks`, and flips a bit at `offset` of the one at `index` at rest, behind the store's back.
  protected abstract List<Rest> putDamaged(BlockStore store, List<Block> blocks, int index, long offset);

  /// Blocks that rest in `closed`, which was closed; those given up before do not count.
  protected abstract long restingBlocks(BlockStore closed);

  @AfterEach
  final void closeAll() {
    opened.forEach(store -> store.close().block(PATIENCE));
  }

  private BlockStore open(int capacityBlocks) {
    return watched(openStore(capacityBlocks));
  }

  private BlockStore watched(BlockStore store) {
    opened.add(store);
    return store;
  }

  private List<Block> blocks(int from, int to) {
    return keys.subList(from, to).stream().map(key -> Blocks.block(arena, key)).toList();
  }

  private List<Rest> put(BlockStore store, int from, int to) {
    List<Block> blocks = blocks(from, to);
    try {
      return requireNonNull(store.put(blocks).block(PATIENCE));
    } finally {
      blocks.forEach(Block::close);
    }
  }

  private List<BlockDraft> drafts(List<? extends Rest> rests) {
    return requireNonNull(arena.tryClaim(keysOf(rests)), "arena is full");
  }

  private static List<BlockKey> keysOf(List<? extends Rest> rests) {
    return rests.stream().map(Rest::key).toList();
  }

  private void assertReadable(BlockStore store, List<? extends Rest> rests) {
    List<BlockDraft> drafts = drafts(rests);
    try {
      store.read(rests, drafts, all).block(PATIENCE);
      assertWhole(drafts);
    } finally {
      drafts.forEach(BlockDraft::close);
    }
  }

  private static void assertWhole(List<BlockDraft> drafts) {
    for (BlockDraft draft : drafts) {
      try (Block block = draft.seal()) {
        Blocks.assertBytes(block);
      }
    }
  }

  private static void assertCorrupt(CompletableFuture<?> copy, BlockKey key) {
    assertThatThrownBy(() -> copy.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).cause()
        .isInstanceOfSatisfying(BlockCorruptException.class, e -> assertThat(e.key()).isEqualTo(key));
  }

  /// Closes `store` and waits until no more than `blocks` rest there: what is given up may be freed a moment later.
  private void assertResting(BlockStore store, long blocks) {
    store.close().block(PATIENCE);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (restingBlocks(store) != blocks && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
    assertThat(restingBlocks(store)).isEqualTo(blocks);
  }

  @Test
  void put_thenRead_givesEveryByteBack() {
    BlockStore store = open(PLACES);
    List<Rest> rests = put(store, 0, PLACES);
    assertThat(keysOf(rests)).isEqualTo(keys.subList(0, PLACES));
    assertReadable(store, rests);
    assertReadable(store, rests.reversed().subList(3, 20));
    assertThat(store.capacityBlocks()).isGreaterThanOrEqualTo(PLACES);
    assertThat(store.space()).isEqualTo(space);
    rests.forEach(Rest::close);
  }

  @Test
  void read_granuleByGranule_givesTheWhole() {
    BlockStore store = open(PLACES);
    List<Rest> rests = put(store, 0, 5);
    List<BlockDraft> drafts = drafts(rests);
    for (int granule = 0; granule < space.layout().granules(); granule++) {
      assertThat(drafts).noneMatch(BlockDraft::isComplete);
      store.read(rests, drafts, GranuleRange.whole(granule, 1)).block(PATIENCE);
    }
    assertWhole(drafts);
    rests.forEach(Rest::close);
  }

  @Test
  void read_ofAPart_statesThatPartOnly() {
    BlockStore store = open(PLACES);
    List<Rest> rests = put(store, 0, 3);
    List<BlockDraft> drafts = drafts(rests);
    GranuleRange middle = GranuleRange.whole(1, 2);
    store.read(rests, drafts, middle).block(PATIENCE);
    for (BlockDraft draft : drafts) {
      assertThat(draft.unstated(all)).containsExactly(GranuleRange.whole(0, 1), GranuleRange.whole(3, 1));
      try (LayerSpan span = draft.span(middle)) {
        Blocks.assertBytes(span);
      }
    }
    drafts.forEach(BlockDraft::close);
    rests.forEach(Rest::close);
  }

  @Test
  void putAndRead_areCold() {
    BlockStore store = open(2);
    List<Block> blocks = blocks(0, 2);
    Mono<List<Rest>> never = store.put(blocks);
    List<Rest> rests = requireNonNull(store.put(blocks).block(PATIENCE));
    assertThat(never).isNotNull();
    blocks.forEach(Block::close);
    List<BlockDraft> drafts = drafts(rests);
    Mono<Void> unread = store.read(rests, drafts, all);
    assertThat(unread).isNotNull();
    assertThat(drafts).noneMatch(BlockDraft::isComplete);
    drafts.forEach(BlockDraft::close);
    assertResting(store, 2);
  }

  @Test
  void nothing_isPutAndReadAsNothing() {
    BlockStore store = open(1);
    assertThat(store.put(List.of()).block(PATIENCE)).isEmpty();
    store.read(List.of(), List.of(), all).block(PATIENCE);
  }

  @Test
  void put_ofACorruptBlock_namesItAndLeavesNothing() {
    BlockStore store = open(3);
    List<Block> blocks = blocks(0, 3);
    Blocks.corrupt(blocks.get(1), 70);
    assertCorrupt(store.put(blocks).toFuture(), keys.get(1));
    blocks.forEach(Block::close);
    List<Rest> rests = put(store, 3, 6);
    assertReadable(store, rests);
    assertResting(store, 3);
  }

  @Test
  void read_ofADamagedBlock_namesItAndStatesNothingOfIt() {
    BlockStore store = open(PLACES);
    List<Block> blocks = blocks(0, 4);
    List<Rest> rests = putDamaged(store, blocks, 2, 70);
    blocks.forEach(Block::close);
    List<BlockDraft> drafts = drafts(rests);
    assertCorrupt(store.read(rests, drafts, all).toFuture(), keys.get(2));
    assertThat(drafts.get(2).isComplete()).isFalse();
    drafts.forEach(BlockDraft::close);
    assertReadable(store, List.of(rests.get(0), rests.get(1), rests.get(3)));
    rests.forEach(Rest::close);
  }

  @Test
  void read_besideTheDamage_succeeds() {
    BlockStore store = open(PLACES);
    List<Block> blocks = blocks(0, 1);
    List<Rest> rests = putDamaged(store, blocks, 0, 70);
    blocks.forEach(Block::close);
    List<BlockDraft> drafts = drafts(rests);
    store.read(rests, drafts, GranuleRange.whole(2, 2)).block(PATIENCE);
    assertCorrupt(store.read(rests, drafts, GranuleRange.whole(0, 2)).toFuture(), keys.get(0));
    assertThat(drafts.getFirst().isComplete()).isFalse();
    drafts.forEach(BlockDraft::close);
    rests.forEach(Rest::close);
  }

  @Test
  void closedRest_freesItsPlace_once() {
    BlockStore store = open(4);
    List<Rest> rests = new ArrayList<>(put(store, 0, 4));
    for (int next = 4; next < 50; next++) {
      Rest oldest = rests.removeFirst();
      oldest.close();
      oldest.close();
      rests.addAll(put(store, next, next + 1));
    }
    assertReadable(store, rests);
    assertResting(store, 4);
  }

  @Test
  void put_beyondThePlaces_failsAndTakesNone() {
    BlockStore store = open(4);
    assumeTrue(store.capacityBlocks() == 4, "places are not counted");
    List<Rest> rests = put(store, 0, 3);
    List<Block> two = blocks(3, 5);
    assertThatThrownBy(() -> store.put(two).block(PATIENCE)).isInstanceOf(KvException.class).hasMessageContaining(store.name());
    two.forEach(Block::close);
    assertReadable(store, rests);
    assertReadable(store, put(store, 3, 4));
    assertResting(store, 4);
  }

  @Test
  void sameKey_putTwice_restsTwice() {
    BlockStore store = open(2);
    Rest first = put(store, 0, 1).getFirst();
    Rest second = put(store, 0, 1).getFirst();
    first.close();
    assertReadable(store, List.of(second));
    assertResting(store, 1);
  }

  @Test
  void closed_refusesAndClosesTwice() {
    BlockStore store = open(2);
    List<Rest> rests = put(store, 0, 1);
    store.close().block(PATIENCE);
    store.close().block(PATIENCE);
    List<Block> blocks = blocks(1, 2);
    assertThatThrownBy(() -> store.put(blocks).block(PATIENCE)).isInstanceOf(TierClosedException.class).hasMessageContaining(store.name());
    blocks.forEach(Block::close);
    List<BlockDraft> drafts = drafts(rests);
    assertThatThrownBy(() -> store.read(rests, drafts, all).block(PATIENCE)).isInstanceOf(TierClosedException.class);
    drafts.forEach(BlockDraft::close);
    assertThatCode(() -> rests.forEach(Rest::close)).doesNotThrowAnyException();
  }

  @Test
  void close_amongReadsAndPuts_letsEachOfThemEnd() {
    for (int run = 0; run < 20; run++) {
      BlockStore store = open(PLACES);
      List<Rest> rests = put(store, 0, 32);
      List<List<BlockDraft>> drafts = IntStream.range(0, 4).mapToObj(i -> drafts(rests)).toList();
      List<Block> more = blocks(32, 64);
      List<CompletableFuture<Void>> reads = drafts.stream().map(into -> store.read(rests, into, all).toFuture()).toList();
      CompletableFuture<List<Rest>> put = store.put(more).toFuture();
      store.close().block(PATIENCE);
      for (int i = 0; i < reads.size(); i++) {
        if (endedWell(reads.get(i))) {
          assertWhole(drafts.get(i));
        }
        drafts.get(i).forEach(BlockDraft::close);
      }
      if (endedWell(put)) {
        assertThat(keysOf(put.join())).isEqualTo(keys.subList(32, 64));
        put.join().forEach(Rest::close);
      }
      more.forEach(Block::close);
      rests.forEach(Rest::close);
    }
  }

  /// False if the store was closed before the copy was accepted; anything else fails.
  private static boolean endedWell(CompletableFuture<?> copy) {
    try {
      copy.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
      return true;
    } catch (CompletionException e) {
      assertThat(e).hasCauseInstanceOf(TierClosedException.class);
      return false;
    }
  }

  /// Closes what reaches it, also beside its own cancel, which operators of Reactor would drop unseen.
  private static final class Closing extends BaseSubscriber<List<Rest>> {
    @Override
    protected void hookOnNext(List<Rest> rests) {
      rests.forEach(Rest::close);
    }
  }

  @Test
  void put_cancelled_leavesNothingAtRest() {
    BlockStore store = open(PLACES);
    List<Block> blocks = blocks(0, PLACES);
    Closing closing = new Closing();
    store.put(blocks).subscribe(closing);
    closing.cancel();
    store.close().block(PATIENCE);
    blocks.forEach(Block::close);
    assertResting(store, 0);
  }

  @Test
  void read_cancelled_endsBeforeTheStoreDoes() {
    BlockStore store = open(PLACES);
    List<Rest> rests = put(store, 0, PLACES);
    List<BlockDraft> drafts = drafts(rests);
    store.read(rests, drafts, all).subscribe().dispose();
    store.close().block(PATIENCE);
    drafts.forEach(BlockDraft::close);
    rests.forEach(Rest::close);
  }

  @Test
  void recovered_isWhatWasAtRest_once() {
    BlockStore store = open(PLACES);
    assertThat(store.recovered()).isEmpty();
    List<Rest> rests = put(store, 0, 5);
    put(store, 1, 2);
    rests.get(1).close();
    rests.get(3).close();
    store.close().block(PATIENCE);
    BlockStore reopened = reopenStore(store);
    if (reopened != null) {
      watched(reopened);
      List<Rest> found = reopened.recovered();
      assertThat(keysOf(found)).containsExactly(keys.get(0), keys.get(2), keys.get(4), keys.get(1));
      assertReadable(reopened, found);
      assertThat(reopened.recovered()).isEmpty();
    }
  }

  @Test
  void number_standsForABlock_untilItIsARestAgain() {
    BlockStore store = open(PLACES);
    List<Rest> rests = put(store, 0, 6);
    List<Integer> numbers = rests.stream().map(store::cool).toList();
    assumeTrue(numbers.getFirst() != BlockStore.NO_NUMBER, "a store with numbers");
    assertThat(numbers).doesNotHaveDuplicates();
    assertThat(rests).allMatch(Rest::isClosed);
    List<Rest> again = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      again.add(store.warm(keys.get(i), numbers.get(i)));
    }
    assertReadable(store, again);
    again.forEach(Rest::close);
    assertResting(store, 0);
  }

  @Test
  void number_ofAClosedStore_isFoundAgain_andMayBeTheOwners() {
    BlockStore store = open(PLACES);
    List<Rest> rests = put(store, 0, 3);
    assumeTrue(rests.stream().mapToInt(store::cool).min().orElseThrow() != BlockStore.NO_NUMBER, "a store with numbers");
    store.close().block(PATIENCE);
    BlockStore reopened = reopenStore(store);
    assumeTrue(reopened != null, "a store that does not forget");
    Found found = new Found();
    watched(requireNonNull(reopened)).recover(found);
    reopened.recover(found);
    assertThat(found.keys).isEqualTo(keys.subList(0, 3));
    List<Rest> again = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      again.add(reopened.warm(found.keys.get(i), found.numbers.get(i)));
    }
    assertReadable(reopened, again);
    again.forEach(Rest::close);
    assertResting(reopened, 0);
  }

  private static final class Found implements BlockStore.Recovered {
    final List<BlockKey> keys = new ArrayList<>();
    final List<Integer> numbers = new ArrayList<>();

    @Override
    public void rest(Rest rest) {
      throw new AssertionError("a store with numbers must tell of them (was " + rest + ")");
    }

    @Override
    public void number(BlockKey key, int number) {
      keys.add(key);
      numbers.add(number);
    }
  }

  @Test
  void manyThreads_putReadAndFree_withoutMixingAnythingUp() {
    BlockStore store = open(PLACES);
    try (Race race = new Race(4)) {
      for (int round = 0; round < 15; round++) {
        int seed = round;
        race.run(() -> churn(store, 0, seed), () -> churn(store, 1, seed), () -> churn(store, 2, seed), () -> churn(store, 3, seed));
      }
    }
    assertResting(store, 0);
  }

  /// One thread's share: never more than its part of the places.
  private void churn(BlockStore store, int lane, long seed) {
    Random random = new Random(seed * 4 + lane);
    List<Rest> rests = new ArrayList<>();
    for (int step = 0; step < 10; step++) {
      int more = 1 + random.nextInt(8);
      int from = lane * 200 + random.nextInt(150);
      rests.addAll(put(store, from, from + more));
      rests.replaceAll(rest -> random.nextBoolean() ? cooledOnce(store, rest) : rest);
      assertReadable(store, rests);
      while (rests.size() > 8) {
        rests.remove(random.nextInt(rests.size())).close();
      }
    }
    rests.forEach(Rest::close);
  }

  private static Rest cooledOnce(BlockStore store, Rest rest) {
    int number = store.cool(rest);
    return number == BlockStore.NO_NUMBER ? rest : store.warm(rest.key(), number);
  }
}
