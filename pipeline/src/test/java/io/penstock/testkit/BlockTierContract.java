package io.penstock.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.Leased;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierStat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// What every [BlockTier] promises, as tests: extend it and open a tier.
///
/// After each test nothing may be lent beyond the visible blocks. Everything is asked through the port, so a tier may be in another
/// process: what it does by itself is awaited, never slept for.
@Timeout(60)
public abstract class BlockTierContract {
  /// Slots that a tier has beyond its capacity.
  protected static final int RESERVE_BLOCKS = 4;
  /// Events that a tier keeps for late readers.
  protected static final int EVENT_LOG_SIZE = 64;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /// The space of every tier under test.
  protected final CacheSpace space = Blocks.smallSpace();
  private final List<BlockKey> keys = Blocks.keys(space, 0, 100);
  private final List<BlockTier> opened = new ArrayList<>();

  /// Opens an empty tier of [#space] with exact LRU, [#RESERVE_BLOCKS] slots beyond its capacity, [#EVENT_LOG_SIZE] events kept, and
  /// verified reads.
  protected abstract BlockTier openTier(int capacityBlocks);

  /// Whether a reservation is known to the tier before its commit. Where it is not, nobody can wait for its keys or in line behind it.
  protected boolean reservesAtOnce() {
    return true;
  }

  /// Whether calls answer before they return, so that a scope which closes at once has read something.
  protected boolean answersAtOnce() {
    return true;
  }

  /// Name of the tier in a receipt: the one that keeps the block.
  protected String receiptTier(BlockTier tier) {
    return tier.info().name();
  }

  /// The typed error for bytes of `key` that differ from their checksum.
  protected void assertCorrupt(Throwable failure, BlockKey key) {
    assertThat(failure).isInstanceOfSatisfying(BlockCorruptException.class, e -> {
      assertThat(e.key()).isEqualTo(key);
      assertThat(e.granule()).isEqualTo(1);
    });
  }

  /// Runs of the test that cancels anywhere.
  protected int cancelledRuns() {
    return 10_000;
  }

  /// Flips a bit of the stored block of `key`, behind the tier's back.
  protected void corruptStored(BlockTier tier, BlockKey key) {
    try (BlockScope scope = new BlockScope()) {
      Blocks.corrupt(requireNonNull(tier.get(List.of(key), scope).blockFirst(PATIENCE)), 70);
    }
  }

  @AfterEach
  void nothingIsLentBeyondWhatIsVisible() {
    for (BlockTier tier : opened) {
      if (isOpen(tier)) {
        assertIdle(tier, "at the end");
      }
      tier.close().block(PATIENCE);
    }
  }

  // Reading what was put

  @Test
  void get_ofWhatWasPut_answersTheSameBytesInKeyOrder() {
    BlockTier tier = tier(8);
    put(tier, keys(0, 5));
    List<BlockKey> asked = List.of(key(4), key(0), key(2));
    assertThat(got(tier, asked)).isEqualTo(asked);
  }

  @Test
  void get_ofAbsentKeys_leavesThemOut() {
    BlockTier tier = tier(8);
    assertThat(got(tier, keys(0, 3))).isEmpty();
    assertThat(got(tier, List.of())).isEmpty();
    put(tier, List.of(key(1)));
    assertThat(got(tier, keys(0, 3))).containsExactly(key(1));
  }

  @Test
  void get_isCold_andWithDemandOfOneAnswersOneBlock() {
    BlockTier tier = tier(8);
    put(tier, keys(0, 4));
    try (BlockScope scope = new BlockScope()) {
      Flux<Block> blocks = tier.get(keys(0, 4), scope);
      assertThat(scope.open()).isZero();
      Collector<Block> reader = new Collector<>(1);
      blocks.subscribe(reader);
      await("one block", () -> reader.seen() == 1);
      assertThat(reader.seen()).isEqualTo(1);
      reader.ask(3);
      await("all blocks", reader::isOver);
      assertThat(reader.seen()).isEqualTo(4);
    }
  }

  @Test
  void matchAndContains_tellWhatIsVisible() {
    BlockTier tier = tier(8);
    put(tier, List.of(key(0), key(1), key(3)));
    assertThat(value(tier.match(keys(0, 5)))).isEqualTo(2);
    assertThat(value(tier.match(keys(2, 5)))).isZero();
    assertThat(value(tier.match(List.of()))).isZero();
    assertThat(value(tier.contains(keys(0, 5)))).isEqualTo(presence(5, 0, 1, 3));
  }

  @Test
  void matchAndContains_areNoUse_butALeaseIs() {
    BlockTier tier = tier(2);
    put(tier, keys(0, 2));
    value(tier.match(keys(0, 1)));
    value(tier.contains(keys(0, 1)));
    put(tier, keys(2, 3));
    assertThat(value(tier.contains(keys(0, 3)))).as("0 was the least recently used").isEqualTo(presence(3, 1, 2));
    assertThat(got(tier, keys(1, 2))).hasSize(1);
    put(tier, keys(3, 4));
    assertThat(value(tier.contains(keys(0, 4)))).as("1 was used").isEqualTo(presence(4, 1, 3));
  }

  @Test
  void keys_thatAreDuplicatesOrOfAnotherSpace_areRefusedAtCallTime() {
    BlockTier tier = tier(8);
    BlockScope scope = new BlockScope();
    List<BlockKey> foreign = List.of(Blocks.key(CacheSpace.of("another", space.layout()), 1));
    for (List<BlockKey> bad : List.of(List.of(key(1), key(2), key(1)), foreign)) {
      assertThatThrownBy(() -> tier.match(bad)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.contains(bad)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.lease(bad, OnMiss.SKIP, scope)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.get(bad, scope)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.reserve(bad, scope)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.remove(bad)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void info_saysWhatTheTierIs() {
    BlockTier tier = tier(8);
    assertThat(tier.info().space()).isEqualTo(space);
    assertThat(tier.info().name()).isNotBlank();
    assertThat(tier.info().capacityBlocks()).isEqualTo(8);
  }

  // Leases

  @Test
  void lease_skip_findsWhatIsVisible_andWaitsForNothing() {
    BlockTier tier = tier(8);
    put(tier, List.of(key(1)));
    try (BlockScope scope = new BlockScope(); BlockScope writer = new BlockScope()) {
      value(tier.reserve(List.of(key(2)), writer));
      Lease lease = value(tier.lease(keys(0, 3), OnMiss.SKIP, scope));
      assertThat(lease.hits()).isEqualTo(presence(3, 1)).isEqualTo(lease.found());
      assertThat(lease.admitted().count()).isZero();
      assertThat(lease.awaited().count()).isZero();
      assertThat(positions(read(lease, 4, scope))).containsExactly(1);
    }
  }

  @Test
  void lease_await_deliversTheBlockAtItsCommit() {
    assumeTrue(reservesAtOnce());
    BlockTier tier = tier(8);
    put(tier, List.of(key(1)));
    try (BlockScope scope = new BlockScope(); BlockScope writer = new BlockScope()) {
      Reservation reservation = value(tier.reserve(List.of(key(0)), writer));
      Lease lease = value(tier.lease(keys(0, 3), OnMiss.AWAIT, scope));
      assertThat(lease.found()).isEqualTo(presence(3, 1));
      assertThat(lease.awaited()).isEqualTo(presence(3, 0));
      assertThat(lease.hits()).isEqualTo(presence(3, 0, 1));
      assertThat(lease.admitted().count()).isZero();
      Collector<List<Leased>> reader = new Collector<>(Long.MAX_VALUE);
      lease.windows(4, scope).subscribe(reader);
      await("the found one, without waiting for the other", () -> reader.seen() == 1);
      assertThat(reader.isOver()).isFalse();
      commitAll(reservation);
      await("the end", reader::isOver);
      assertThat(reader.failure()).isNull();
      assertThat(reader.items().stream().flatMap(List::stream).map(Leased::position)).containsExactly(1, 0);
      reader.items().stream().flatMap(List::stream).forEach(leased -> Blocks.assertBytes(leased.block()));
    }
  }

  @Test
  void lease_admit_takesThePlaceOfMissingKeys_andDeliversThemWhenPut() {
    BlockTier tier = tier(2);
    put(tier, keys(0, 2));
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(List.of(key(1), key(7)), OnMiss.ADMIT, scope));
      assertThat(lease.hits()).isEqualTo(presence(2, 0));
      assertThat(lease.admitted()).isEqualTo(presence(2, 1));
      assertThat(value(tier.contains(List.of(key(0), key(1), key(7))))).as("0 was the victim, 7 is not visible yet").isEqualTo(presence(3, 1));
      CompletableFuture<List<Leased>> blocks = reading(lease, 4, scope);
      put(tier, List.of(key(7)));
      assertThat(positions(got(blocks))).containsExactly(0, 1);
      got(blocks).forEach(leased -> Blocks.assertBytes(leased.block()));
    }
    assertThat(value(tier.contains(List.of(key(1), key(7)))).count()).isEqualTo(2);
  }

  @Test
  void lease_ofAnAdmittedKey_isAHitThatIsAwaited() {
    BlockTier tier = tier(4);
    try (BlockScope scope = new BlockScope()) {
      Lease first = value(tier.lease(keys(0, 1), OnMiss.ADMIT, scope));
      Lease second = value(tier.lease(keys(0, 1), OnMiss.ADMIT, scope));
      assertThat(first.admitted().count()).isEqualTo(1);
      assertThat(first.hits().count()).isZero();
      assertThat(second.admitted().count()).isZero();
      assertThat(second.hits().count()).isEqualTo(1);
      assertThat(second.awaited().count()).isEqualTo(1);
      CompletableFuture<List<Leased>> one = reading(first, 1, scope);
      CompletableFuture<List<Leased>> other = reading(second, 1, scope);
      put(tier, keys(0, 1));
      assertThat(got(one)).hasSize(1);
      assertThat(got(other)).hasSize(1);
    }
  }

  @Test
  void lease_thatAdmittedAndEnds_takesTheAdmissionWithIt() {
    BlockTier tier = tier(4);
    try (BlockScope scope = new BlockScope()) {
      Lease first = value(tier.lease(keys(0, 1), OnMiss.ADMIT, scope));
      Lease second = value(tier.lease(keys(0, 1), OnMiss.AWAIT, scope));
      CompletableFuture<List<Leased>> waiting = reading(second, 1, scope);
      first.close();
      assertThat(got(waiting)).isEmpty();
      Lease third = value(tier.lease(keys(0, 1), OnMiss.ADMIT, scope));
      assertThat(third.admitted().count()).as("nobody writes it any more").isEqualTo(1);
    }
  }

  @Test
  void lease_survivesEvictionAndRemoval() {
    BlockTier tier = tier(2);
    put(tier, keys(0, 2));
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(keys(0, 2), OnMiss.SKIP, scope));
      put(tier, keys(2, 3));
      assertThat(value(tier.remove(keys(0, 3)))).isEqualTo(presence(3, 1, 2));
      assertThat(value(tier.contains(keys(0, 3))).count()).isZero();
      List<Leased> blocks = read(lease, 1, scope);
      assertThat(positions(blocks)).containsExactly(0, 1);
      blocks.forEach(leased -> Blocks.assertBytes(leased.block()));
    }
  }

  @Test
  void windows_holdAtMostWhatWasAsked_oneARequest_foundOnesInKeyOrder() {
    BlockTier tier = tier(8);
    put(tier, keys(0, 7));
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(keys(0, 7), OnMiss.SKIP, scope));
      Collector<List<Leased>> reader = new Collector<>(1);
      lease.windows(3, scope).subscribe(reader);
      await("one window", () -> reader.seen() == 1);
      assertThat(reader.isOver()).isFalse();
      reader.ask(1);
      await("two windows", () -> reader.seen() == 2);
      reader.ask(5);
      await("the end", reader::isOver);
      assertThat(reader.items().stream().map(List::size)).allMatch(size -> size >= 1 && size <= 3);
      assertThat(reader.items().stream().flatMap(List::stream).map(Leased::position)).containsExactly(0, 1, 2, 3, 4, 5, 6);
    }
  }

  @Test
  void windows_ofNothing_completeWithoutDemand() {
    BlockTier tier = tier(8);
    try (BlockScope scope = new BlockScope()) {
      Collector<List<Leased>> reader = new Collector<>(0);
      value(tier.lease(keys(0, 3), OnMiss.SKIP, scope)).windows(3, scope).subscribe(reader);
      await("the end", reader::isOver);
      assertThat(reader.failure()).isNull();
    }
  }

  @Test
  void windows_areForOneSubscriber_andRefuseNonsense() {
    BlockTier tier = tier(8);
    put(tier, keys(0, 1));
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(keys(0, 1), OnMiss.SKIP, scope));
      assertThatThrownBy(() -> lease.windows(0, scope)).isInstanceOf(IllegalArgumentException.class);
      Flux<List<Leased>> windows = lease.windows(1, scope);
      windows.subscribe(new Collector<>(0));
      assertThatThrownBy(() -> windows.blockFirst(PATIENCE)).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void windows_cancelled_endTheLease_butTheScopeKeepsWhatWasEmitted() {
    BlockTier tier = tier(4);
    put(tier, keys(0, 3));
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(keys(0, 3), OnMiss.SKIP, scope));
      List<Leased> first = requireNonNull(lease.windows(2, scope).next().block(PATIENCE));
      await("the lease ends", lease::isClosed);
      first.forEach(leased -> Blocks.assertBytes(leased.block()));
    }
  }

  @Test
  void lease_whoseScopeIsClosed_keepsNothing() {
    BlockTier tier = tier(4);
    put(tier, keys(0, 2));
    BlockScope scope = new BlockScope();
    scope.close();
    tier.lease(keys(0, 3), OnMiss.ADMIT, scope).onErrorComplete().block(PATIENCE);
    tier.reserve(keys(3, 4), scope).onErrorComplete().block(PATIENCE);
    value(tier.remove(keys(0, 4)));
    assertIdle(tier, "closed scope");
    put(tier, keys(2, 4));
    assertThat(value(tier.contains(keys(2, 4))).count()).as("nobody holds the keys").isEqualTo(2);
  }

  // Writing

  @Test
  void reserve_write_commit_makesVisible_andNotBefore() {
    BlockTier tier = tier(8);
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = value(tier.reserve(keys(0, 3), scope));
      assertThat(reservation.drafts()).extracting(BlockDraft::key).isEqualTo(keys(0, 3));
      assertThat(reservation.skipped().count()).isZero();
      reservation.drafts().forEach(Blocks::produce);
      assertThat(value(tier.contains(keys(0, 3))).count()).isZero();
      List<Receipt> some = value(reservation.commit(reservation.drafts().subList(1, 3)));
      assertThat(some).extracting(Receipt::key).isEqualTo(keys(1, 3));
      assertThat(some).extracting(Receipt::tier).containsOnly(receiptTier(tier));
      assertThat(value(tier.contains(keys(0, 3)))).isEqualTo(presence(3, 1, 2));
      List<Receipt> rest = value(reservation.commit(reservation.drafts().subList(0, 1)));
      assertThat(events(tier, 3)).containsExactly(new TierEvent.Stored(some.get(0).sequence(), key(1)),
          new TierEvent.Stored(some.get(1).sequence(), key(2)), new TierEvent.Stored(rest.getFirst().sequence(), key(0)));
    }
    assertThat(got(tier, keys(0, 3))).hasSize(3);
  }

  @Test
  void commit_ofAnIncompleteDraft_publishesNothing_andMayBeRepeated() {
    BlockTier tier = tier(8);
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = value(tier.reserve(keys(0, 2), scope));
      Blocks.produce(reservation.drafts().getFirst());
      BlockDraft second = reservation.drafts().getLast();
      Blocks.produce(second, GranuleRange.whole(0, 3));
      assertThatThrownBy(() -> value(reservation.commit(reservation.drafts()))).isInstanceOf(IncompleteBlockException.class);
      assertThat(value(tier.contains(keys(0, 2))).count()).isZero();
      Blocks.produce(second, GranuleRange.whole(3, 1));
      assertThat(value(reservation.commit(reservation.drafts()))).hasSize(2);
    }
    assertThat(got(tier, keys(0, 2))).hasSize(2);
  }

  @Test
  void commit_twice_orOfAnothersDraft_isRefused_andHarmsNobody() {
    BlockTier tier = tier(8);
    try (BlockScope scope = new BlockScope()) {
      Reservation one = value(tier.reserve(keys(0, 1), scope));
      Reservation other = value(tier.reserve(keys(1, 2), scope));
      one.drafts().forEach(Blocks::produce);
      other.drafts().forEach(Blocks::produce);
      assertThatThrownBy(() -> value(one.commit(other.drafts()))).isInstanceOf(IllegalArgumentException.class);
      BlockDraft draft = one.drafts().getFirst();
      value(one.commit(List.of(draft)));
      assertThatThrownBy(() -> value(one.commit(List.of(draft)))).isInstanceOf(RuntimeException.class);
      BlockDraft twice = other.drafts().getFirst();
      assertThatThrownBy(() -> value(other.commit(List.of(twice, twice)))).isInstanceOf(RuntimeException.class);
    }
    assertThat(value(tier.contains(keys(0, 1))).count()).isEqualTo(1);
  }

  @Test
  void revoke_leavesNothing_andTheNextWriterGetsTheKeys() {
    BlockTier tier = tier(8);
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = value(tier.reserve(keys(0, 2), scope));
      Blocks.produce(reservation.drafts().getFirst());
      reservation.close();
      assertThatThrownBy(() -> value(reservation.commit(reservation.drafts()))).isInstanceOf(IllegalStateException.class);
      assertThat(value(tier.contains(keys(0, 2))).count()).isZero();
      assertThat(value(tier.reserve(keys(0, 2), scope)).drafts()).hasSize(2);
    }
    assertThat(value(tier.stat()).stored()).isZero();
  }

  @Test
  void revoke_endsTheStreamOfThoseWhoWait_withoutItsKeys() {
    assumeTrue(reservesAtOnce());
    BlockTier tier = tier(8);
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = value(tier.reserve(keys(0, 2), scope));
      Lease lease = value(tier.lease(keys(0, 2), OnMiss.AWAIT, scope));
      CompletableFuture<List<Leased>> waiting = reading(lease, 4, scope);
      Blocks.produce(reservation.drafts().getLast());
      value(reservation.commit(reservation.drafts().subList(1, 2)));
      reservation.close();
      assertThat(positions(got(waiting))).containsExactly(1);
    }
  }

  @Test
  void reserve_ofWhatIsVisibleOrBeingWritten_skipsIt() {
    assumeTrue(reservesAtOnce());
    BlockTier tier = tier(8);
    put(tier, keys(0, 1));
    try (BlockScope scope = new BlockScope()) {
      value(tier.reserve(keys(1, 2), scope));
      Reservation third = value(tier.reserve(keys(0, 3), scope));
      assertThat(third.skipped()).isEqualTo(presence(3, 0, 1));
      assertThat(third.drafts()).extracting(BlockDraft::key).containsExactly(key(2));
      Reservation nothing = value(tier.reserve(keys(0, 2), scope));
      assertThat(nothing.drafts()).isEmpty();
      assertThat(value(nothing.commit(List.of()))).isEmpty();
    }
  }

  @Test
  void reserve_withoutRoom_waitsItsTurn_andCancelLeavesTheLine() {
    assumeTrue(reservesAtOnce());
    BlockTier tier = tier(2);
    try (BlockScope scope = new BlockScope()) {
      Reservation all = value(tier.reserve(keys(0, 2 + RESERVE_BLOCKS), scope));
      CompletableFuture<Reservation> waiting = tier.reserve(keys(10, 12), scope).toFuture();
      Disposable cancelled = tier.reserve(keys(20, 21), scope).subscribe();
      CompletableFuture<Reservation> last = tier.reserve(keys(20, 22), scope).toFuture();
      assertThat(waiting).isNotDone();
      cancelled.dispose();
      all.close();
      assertThat(got(waiting).drafts()).hasSize(2);
      assertThat(got(last).skipped().count() + got(last).drafts().size()).isEqualTo(2);
    }
  }

  @Test
  void remove_tellsWhatItRemoved_once() {
    BlockTier tier = tier(8);
    put(tier, keys(0, 2));
    assertThat(value(tier.remove(keys(1, 3)))).isEqualTo(presence(2, 0));
    assertThat(value(tier.remove(keys(1, 3))).count()).isZero();
    assertThat(events(tier, 3)).last().isEqualTo(new TierEvent.Removed(3, key(1)));
    assertThat(got(tier, keys(0, 3))).containsExactly(key(0));
  }

  // Policy, events, figures

  @Test
  void decisions_equalTheTextbookLru_onRandomReferences() {
    for (int seed = 0; seed < 60; seed++) {
      Random random = new Random(seed);
      int capacity = 1 + random.nextInt(6);
      BlockTier tier = tier(capacity);
      LinkedHashSet<BlockKey> model = new LinkedHashSet<>();
      long hits = 0;
      long misses = 0;
      for (int step = 0; step < 60; step++) {
        String message = "seed %d, step %d".formatted(seed, step);
        List<BlockKey> keys = someKeys(random, 12, 1 + random.nextInt(RESERVE_BLOCKS));
        switch (random.nextInt(reservesAtOnce() ? 6 : 5)) {
          case 0 -> assertThat(value(tier.remove(keys))).as(message).isEqualTo(removeFrom(model, keys));
          case 5 -> {
            put(tier, keys);
            for (BlockKey key : keys) { // one at a time: a key may have been evicted by those before it
              if (!model.contains(key)) {
                reference(model, key, capacity);
              }
            }
          }
          default -> {
            BitSet expected = new BitSet();
            for (int i = 0; i < keys.size(); i++) {
              expected.set(i, reference(model, keys.get(i), capacity));
            }
            assertThat(admitAndPut(tier, keys)).as(message).isEqualTo(Presence.of(keys.size(), expected));
            hits += expected.cardinality();
            misses += keys.size() - expected.cardinality();
          }
        }
        assertThat(visible(tier, 12)).as(message).containsExactlyInAnyOrderElementsOf(model);
      }
      TierStat stat = value(tier.stat());
      assertThat(stat.hits()).as("seed %d", seed).isEqualTo(hits);
      assertThat(stat.misses()).as("seed %d", seed).isEqualTo(misses);
      assertThat(stat.blocks()).isEqualTo(model.size());
      assertIdle(tier, "seed " + seed);
    }
  }

  @Test
  void events_areNumberedWithoutHoles_andTellWhatIsVisible() {
    BlockTier tier = tier(3);
    Collector<TierEvent> live = new Collector<>(Long.MAX_VALUE);
    tier.events(0).subscribe(live);
    Random random = new Random(5);
    for (int i = 0; i < 10; i++) {
      put(tier, someKeys(random, 8, 2));
      value(tier.remove(someKeys(random, 8, 1)));
    }
    long last = value(tier.stat()).lastSequence();
    await("all events", () -> live.seen() == last);
    assertThat(live.items()).extracting(TierEvent::sequence).isEqualTo(IntStream.rangeClosed(1, (int) last).mapToObj(Long::valueOf).toList());
    LinkedHashSet<BlockKey> told = new LinkedHashSet<>();
    for (TierEvent event : live.items()) {
      switch (event) {
        case TierEvent.Stored stored -> assertThat(told.add(stored.key())).as("%s", event).isTrue();
        case TierEvent.Evicted evicted -> assertThat(told.remove(evicted.key())).as("%s", event).isTrue();
        case TierEvent.Removed removed -> assertThat(told.remove(removed.key())).as("%s", event).isTrue();
        case TierEvent.Lost lost -> throw new AssertionError(lost);
        case TierEvent.Skipped skipped -> throw new AssertionError(skipped);
      }
    }
    assertThat(visible(tier, 8)).containsExactlyInAnyOrderElementsOf(told);
    assertThat(requireNonNull(tier.events(last - 2).take(2).collectList().block(PATIENCE))).isEqualTo(live.items().subList((int) last - 2, (int) last));
    live.cancel();
  }

  @Test
  void events_forASlowReader_skipWhatIsNoLongerKept() {
    BlockTier tier = tier(2);
    Collector<TierEvent> slow = new Collector<>(1);
    tier.events(0).subscribe(slow);
    for (int i = 0; i < EVENT_LOG_SIZE; i++) {
      put(tier, keys(i, i + 1));
    }
    long last = value(tier.stat()).lastSequence();
    assertThat(last).isGreaterThan(EVENT_LOG_SIZE + 10);
    await("the first", () -> slow.seen() == 1);
    slow.ask(Long.MAX_VALUE);
    await("the last", () -> slow.items().getLast().sequence() == last);
    long expected = 1;
    long skips = 0;
    for (TierEvent event : slow.items()) {
      if (event instanceof TierEvent.Skipped skipped) {
        assertThat(skipped.sequence()).isEqualTo(expected + skipped.count() - 1);
        skips++;
      } else {
        assertThat(event.sequence()).isEqualTo(expected);
      }
      expected = event.sequence() + 1;
    }
    assertThat(skips).isPositive();
    slow.cancel();
  }

  @Test
  void stat_countsWhatHappened() {
    BlockTier tier = tier(2);
    put(tier, keys(0, 3));
    assertThat(got(tier, keys(0, 3))).hasSize(2);
    value(tier.remove(keys(2, 3)));
    assertIdle(tier, "before it is asked");
    TierStat stat = value(tier.stat());
    int bytes = space.layout().blockBytes();
    assertThat(stat).isEqualTo(new TierStat(1, 2, bytes, bytes, 2, 1, 3, 1, 0, 5, stat.levels(), stat.tiering()));
  }

  // Failure and the end

  @Test
  void corruptMemory_isATypedError_andTheBlockIsQuarantined() {
    BlockTier tier = tier(4);
    put(tier, keys(0, 3));
    corruptStored(tier, key(1));
    assertThatThrownBy(() -> got(tier, keys(0, 3))).satisfies(failure -> assertCorrupt(failure, key(1)));
    await("the quarantine", () -> value(tier.stat()).corrupt() == 1);
    assertThat(events(tier, 4)).last().isInstanceOfSatisfying(TierEvent.Lost.class, lost -> assertThat(lost.key()).isEqualTo(key(1)));
    assertThat(got(tier, keys(0, 3))).as("the next one is a miss").containsExactly(key(0), key(2));
    put(tier, keys(1, 2));
    assertThat(got(tier, keys(0, 3))).hasSize(3);
  }

  @Test
  void close_failsWhatWaits_andEverythingAfter() {
    assumeTrue(reservesAtOnce());
    BlockTier tier = tier(2);
    put(tier, keys(30, 31));
    try (BlockScope scope = new BlockScope()) {
      List<Block> kept = new ArrayList<>();
      kept.add(scope.adopt(requireNonNull(tier.get(keys(30, 31), scope).blockFirst(PATIENCE)).share()));
      Reservation all = value(tier.reserve(keys(0, RESERVE_BLOCKS), scope));
      CompletableFuture<Reservation> inLine = tier.reserve(keys(10, 15), scope).toFuture();
      Lease waiting = value(tier.lease(keys(0, 1), OnMiss.AWAIT, scope));
      CompletableFuture<List<Leased>> windows = reading(waiting, 1, scope);
      Collector<TierEvent> events = new Collector<>(Long.MAX_VALUE);
      tier.events(0).subscribe(events);
      all.drafts().forEach(Blocks::produce);

      tier.close().block(PATIENCE);
      tier.close().block(PATIENCE);

      assertThatThrownBy(() -> got(inLine)).isInstanceOf(TierClosedException.class);
      assertThatThrownBy(() -> got(windows)).isInstanceOf(TierClosedException.class);
      await("the end of events", events::isOver);
      assertThat(events.failure()).isNull();
      for (Mono<?> call : List.of(tier.match(keys(0, 1)), tier.contains(keys(0, 1)), tier.lease(keys(0, 1), OnMiss.SKIP, scope),
          tier.get(keys(0, 1), scope).next(), tier.reserve(keys(0, 1), scope), tier.remove(keys(0, 1)), tier.events(0).next(),
          tier.stat(), all.commit(all.drafts()))) {
        assertThatThrownBy(() -> call.block(PATIENCE)).isInstanceOf(TierClosedException.class);
      }
      kept.forEach(Blocks::assertBytes); // a lease's block outlives the tier
    }
  }

  @Test
  void cancel_atAnyPoint_leaksNothing() {
    BlockTier tier = tier(4);
    for (int seed = 0; seed < cancelledRuns(); seed++) {
      Random random = new Random(seed);
      List<BlockKey> keys = someKeys(random, 10, 1 + random.nextInt(RESERVE_BLOCKS));
      try (BlockScope scope = new BlockScope(); BlockScope other = new BlockScope()) {
        List<Collector<?>> readers = new ArrayList<>();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
          readers.add(randomWork(tier, keys, random, random.nextInt(3) == 0 ? other : scope));
        }
        Collections.shuffle(readers, random);
        readers.forEach(reader -> {
          reader.ask(1 + random.nextInt(2));
          if (random.nextBoolean()) {
            reader.cancel();
          }
        });
      }
      assertIdle(tier, "seed " + seed);
    }
    value(tier.remove(keys(0, 10)));
    try (BlockScope scope = new BlockScope()) {
      assertThat(value(tier.reserve(keys(0, RESERVE_BLOCKS), scope)).skipped().count()).as("keys still being written").isZero();
      assertThat(value(tier.reserve(keys(RESERVE_BLOCKS, 8), scope)).skipped().count()).as("keys still being written").isZero();
    }
  }

  @Test
  void manyThreads_neverSeeAHalfBlock_andLeaveNothingBehind() {
    BlockTier tier = tier(4);
    AtomicLong verified = new AtomicLong();
    Queue<Throwable> unexpected = new ConcurrentLinkedQueue<>();
    try (Race race = new Race(3)) {
      Runnable[] tasks = new Runnable[3];
      for (int t = 0; t < tasks.length; t++) {
        Random random = new Random(t);
        tasks[t] = () -> {
          for (int i = 0; i < stressRounds(); i++) {
            try (BlockScope scope = new BlockScope()) {
              List<BlockKey> keys = someKeys(random, 8, 1 + random.nextInt(2));
              OnMiss onMiss = OnMiss.values()[random.nextInt(3)];
              tier.lease(keys, onMiss, scope).flatMapMany(lease -> lease.windows(2, scope)).subscribe(window -> window.forEach(leased -> {
                Blocks.assertBytes(leased.block());
                verified.incrementAndGet();
                leased.block().close();
              }), failure -> note(unexpected, failure));
              if (random.nextInt(4) != 0) {
                tier.reserve(keys, scope).flatMap(reservation -> {
                  reservation.drafts().forEach(Blocks::produce);
                  return reservation.commit(reservation.drafts());
                }).subscribe(receipts -> {}, failure -> note(unexpected, failure));
              } else if (random.nextBoolean()) {
                tier.remove(keys).subscribe();
              }
            }
          }
        };
      }
      race.run(tasks);
    }
    assertThat(verified.get() > 0 || !answersAtOnce()).as("something was read").isTrue();
    assertThat(unexpected).isEmpty();
    assertIdle(tier, "after the stress");
    value(tier.remove(keys(0, 8)));
    try (BlockScope scope = new BlockScope()) {
      assertThat(value(tier.reserve(keys(0, 8), scope)).skipped().count()).as("keys still being written").isZero();
    }
  }

  /// A scope that closes first ends what it owns; anything else is a failure.
  private static void note(Queue<Throwable> unexpected, Throwable failure) {
    if (!(failure instanceof CancellationException) && !(failure instanceof IllegalStateException)) {
      unexpected.add(failure);
    }
  }

  /// Rounds a thread of the stress test.
  protected int stressRounds() {
    return 3_000;
  }

  private Collector<?> randomWork(BlockTier tier, List<BlockKey> keys, Random random, BlockScope scope) {
    Collector<Object> reader = new Collector<>(random.nextInt(2));
    Flux<?> work = switch (random.nextInt(6)) {
      case 0 -> tier.get(keys, scope);
      case 1 -> tier.lease(keys, OnMiss.AWAIT, scope).flatMapMany(lease -> lease.windows(1, scope));
      case 2 -> tier.lease(keys, OnMiss.ADMIT, scope).flatMapMany(lease -> lease.windows(2, scope));
      case 3 -> tier.reserve(keys, scope).flux();
      case 4 -> tier.lease(keys, OnMiss.ADMIT, scope).flux();
      default -> tier.reserve(keys, scope).flatMapMany(reservation -> {
        List<BlockDraft> some = reservation.drafts().subList(0, random.nextInt(reservation.drafts().size() + 1));
        some.forEach(Blocks::produce);
        return reservation.commit(some);
      });
    };
    work.subscribe(reader);
    return reader;
  }

  // Helpers

  private BlockTier tier(int capacityBlocks) {
    BlockTier tier = openTier(capacityBlocks);
    opened.add(tier);
    return tier;
  }

  private BlockKey key(int number) {
    return keys.get(number);
  }

  private List<BlockKey> keys(int from, int to) {
    return keys.subList(from, to);
  }

  private List<BlockKey> someKeys(Random random, int of, int count) {
    List<BlockKey> all = new ArrayList<>(keys(0, of));
    Collections.shuffle(all, random);
    return List.copyOf(all.subList(0, count));
  }

  private static Presence presence(int size, int... positions) {
    BitSet bits = new BitSet();
    IntStream.of(positions).forEach(bits::set);
    return Presence.of(size, bits);
  }

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(PATIENCE));
  }

  /// Writes and commits those of `keys` that the tier wants.
  private void put(BlockTier tier, List<BlockKey> keys) {
    try (BlockScope scope = new BlockScope()) {
      commitAll(value(tier.reserve(keys, scope)));
    }
  }

  private static void commitAll(Reservation reservation) {
    reservation.drafts().forEach(Blocks::produce);
    value(reservation.commit(reservation.drafts()));
  }

  /// Keys of the blocks that `get` answers, their bytes compared.
  private List<BlockKey> got(BlockTier tier, List<BlockKey> keys) {
    return requireNonNull(Flux.using(BlockScope::new, scope -> tier.get(keys, scope).map(block -> {
      Blocks.assertBytes(block);
      block.close();
      return block.key();
    }), BlockScope::close).collectList().block(PATIENCE));
  }

  private Presence admitAndPut(BlockTier tier, List<BlockKey> keys) {
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(keys, OnMiss.ADMIT, scope));
      CompletableFuture<List<Leased>> blocks = reading(lease, 2, scope);
      List<BlockKey> missing = lease.admitted().bits().stream().mapToObj(keys::get).toList();
      commitAll(value(tier.reserve(missing, scope)));
      assertThat(got(blocks)).hasSize(keys.size());
      return lease.hits();
    }
  }

  private List<BlockKey> visible(BlockTier tier, int of) {
    Presence present = value(tier.contains(keys(0, of)));
    return present.bits().stream().mapToObj(this::key).toList();
  }

  private static CompletableFuture<List<Leased>> reading(Lease lease, int maxBlocks, BlockScope scope) {
    return lease.windows(maxBlocks, scope).flatMapIterable(window -> window).collectList().toFuture();
  }

  private static List<Leased> read(Lease lease, int maxBlocks, BlockScope scope) {
    return got(reading(lease, maxBlocks, scope));
  }

  private static <T> T got(CompletableFuture<T> future) {
    try {
      return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (java.util.concurrent.ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new AssertionError(e);
    } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
      throw new AssertionError("must come within " + PATIENCE, e);
    }
  }

  private static List<Integer> positions(List<Leased> blocks) {
    return blocks.stream().map(Leased::position).toList();
  }

  private static List<TierEvent> events(BlockTier tier, int count) {
    return requireNonNull(tier.events(0).take(count).collectList().block(PATIENCE));
  }

  private static boolean reference(LinkedHashSet<BlockKey> model, BlockKey key, int capacity) {
    boolean hit = model.remove(key);
    model.add(key);
    if (model.size() > capacity) {
      model.removeFirst();
    }
    return hit;
  }

  private static Presence removeFrom(LinkedHashSet<BlockKey> model, List<BlockKey> keys) {
    BitSet removed = new BitSet();
    for (int i = 0; i < keys.size(); i++) {
      removed.set(i, model.remove(keys.get(i)));
    }
    return Presence.of(keys.size(), removed);
  }

  private static boolean isOpen(BlockTier tier) {
    try {
      tier.stat().block(PATIENCE);
      return true;
    } catch (TierClosedException e) {
      return false;
    }
  }

  /// Nothing may be lent but what is visible.
  private static void assertIdle(BlockTier tier, String when) {
    await("bytes claimed = bytes visible " + when, () -> {
      TierStat stat = value(tier.stat());
      return stat.claimedBytes() == stat.bytes();
    });
  }

  private static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("must come within " + PATIENCE + ": " + what);
      }
      Thread.yield();
    }
  }

  /// A subscriber with demand of its own that remembers what it got.
  private static final class Collector<T> extends BaseSubscriber<T> {
    private final long initial;
    private final List<T> items = new ArrayList<>();
    private Throwable failure;
    private boolean over;

    Collector(long initial) {
      this.initial = initial;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      if (initial > 0) {
        request(initial);
      }
    }

    @Override
    protected synchronized void hookOnNext(T item) {
      items.add(item);
    }

    @Override
    protected synchronized void hookOnComplete() {
      over = true;
    }

    @Override
    protected synchronized void hookOnError(Throwable error) {
      failure = error;
      over = true;
    }

    void ask(long n) {
      request(n);
    }

    synchronized List<T> items() {
      return List.copyOf(items);
    }

    synchronized int seen() {
      return items.size();
    }

    synchronized boolean isOver() {
      return over;
    }

    synchronized Throwable failure() {
      return failure;
    }
  }
}
