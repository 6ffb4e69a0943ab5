package io.penstock.stack;

import static io.penstock.tier.TierHolds.KeyOutcome.LEASED;
import static io.penstock.tier.TierHolds.KeyOutcome.NOT_FOUND;
import static io.penstock.tier.TierHolds.KeyOutcome.NOT_READY;
import static io.penstock.tier.TierHolds.KeyOutcome.OK;
import static io.penstock.tier.TierHolds.KeyOutcome.UNCHANGED;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.HoldOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Medium;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierHolds.RemovalCount;
import io.penstock.tier.TierListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/// Read leases, pins, groups and removals of a stack, by a clock that the test moves.
final class TierHoldsTest extends StackSteps {
  private static final int CAPACITY = 16;
  private static final Duration LIFE = Duration.ofSeconds(10);
  private static final LeaseTerms ANY = LeaseTerms.defaults().withPrefixOnly(false);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private long now = Long.MAX_VALUE - 1000; // a clock may wrap
  private final StackOptions options = StackOptions.defaults("stack").withIngressBlocks(4).withExact(false);
  private final TierStack stack =
      new TierStack(SPACE, List.of(new StackLevel.Host("dram", CAPACITY)), options, TierListener.noop(), () -> now);
  private final TierHolds holds = stack.holds("me");
  private final BlockScope scope = new BlockScope();

  @AfterEach
  void close() {
    scope.close();
    assertClosesClean(stack);
  }

  private void pass(Duration time) {
    now += time.toNanos();
  }

  private static List<BlockKey> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(StackSteps::key).toList();
  }

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(SOON));
  }

  private void fill(TierStack tier, int from, int to) {
    keys(from, to).forEach(key -> putAll(tier, List.of(key)));
  }

  private List<Integer> readUnder(TierStack tier, long id, List<BlockKey> keys) {
    try (BlockScope own = new BlockScope()) {
      Lease lease = value(tier.holds("reader").read(id, keys, own));
      List<Integer> positions = new ArrayList<>();
      lease.windows(2, own).doOnNext(window -> window.forEach(leased -> {
        Blocks.assertBytes(leased.block());
        positions.add(leased.position());
        leased.block().close();
      })).then().block(SOON);
      return positions;
    }
  }

  // Read leases

  @Test
  void leasedBlocks_areReadLater_thoughThePolicyWouldHaveEvictedThem_untilTheirLifeIsOver() {
    fill(stack, 0, CAPACITY);
    ReadLease lease = value(holds.lease(keys(0, 3), LeaseTerms.defaults()));
    assertThat(lease.leased().count()).isEqualTo(3);
    assertThat(lease.life()).isEqualTo(LIFE);

    pass(LIFE.minusMillis(1));
    fill(stack, 100, 100 + 2 * CAPACITY);
    assertThat(present(stack, 0, 1, 2, 3)).isEqualTo("1110");
    assertThat(readUnder(stack, lease.id(), keys(0, 4))).containsExactly(0, 1, 2);

    pass(LIFE.minusMillis(1)); // the read began its life again
    fill(stack, 200, 200 + 2 * CAPACITY);
    assertThat(present(stack, 0, 1, 2)).isEqualTo("111");

    pass(Duration.ofMillis(1));
    assertThatThrownBy(() -> readUnder(stack, lease.id(), keys(0, 3))).isInstanceOfSatisfying(
        LeaseExpiredException.class, expired -> assertThat(expired.id()).isEqualTo(lease.id()));
    fill(stack, 300, 300 + CAPACITY);
    assertThat(present(stack, 0, 1, 2)).isEqualTo("000");
    assertThat(stat(stack).holds().leases()).isZero();
    assertThat(stat(stack).holds().leased()).as("passed over").isPositive();
  }

  @Test
  void lookUpWithoutALease_andAWrongName_holdNothing() {
    fill(stack, 0, CAPACITY);
    stack.match(keys(0, 3)).block(SOON);
    assertThat(stat(stack).holds().leasedBlocks()).isZero();
    assertThatThrownBy(() -> readUnder(stack, 4711, keys(0, 3))).isInstanceOf(LeaseExpiredException.class);
    assertThat(value(holds.lease(keys(50, 53), LeaseTerms.defaults())).id()).as("nothing found").isZero();
    assertThat(stat(stack).holds().leases()).isZero();
  }

  @Test
  void secondLease_letsABlockEndWithTheLaterOfBoth() {
    fill(stack, 0, CAPACITY);
    holds.lease(keys(0, 1), LeaseTerms.defaults().withLife(Duration.ofSeconds(30))).block(SOON);
    holds.lease(keys(0, 1), LeaseTerms.defaults()).block(SOON);
    pass(Duration.ofSeconds(29));
    fill(stack, 100, 100 + 2 * CAPACITY);
    assertThat(present(stack, 0)).isEqualTo("1");
    pass(Duration.ofSeconds(1));
    fill(stack, 200, 200 + CAPACITY);
    assertThat(present(stack, 0)).isEqualTo("0");
  }

  @Test
  void prefixLease_holdsNothingBehindAMiss_andALeaseOfAllHoldsWhatItFinds() {
    fill(stack, 0, 2);
    fill(stack, 3, 4);
    ReadLease prefix = value(holds.lease(keys(0, 4), LeaseTerms.defaults()));
    assertThat(List.of(prefix.found().count(), prefix.leased().count())).containsExactly(2, 2);
    ReadLease all = value(holds.lease(keys(0, 4), ANY));
    assertThat(all.leased().bits().stream()).containsExactly(0, 1, 3);
  }

  /// A reader that takes one window and stands still.
  private static final class SlowReader extends BaseSubscriber<List<LeasedBlock>> {
    private final List<LeasedBlock> got = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      subscription.request(1);
    }

    @Override
    protected void hookOnNext(List<LeasedBlock> window) {
      got.addAll(window);
    }

    @Override
    protected void hookOnError(Throwable failure) {
      failures.add(failure);
    }
  }

  @Test
  void lease_doesNotExpireWhileAReadGoesOn() {
    fill(stack, 0, CAPACITY);
    ReadLease lease = value(holds.lease(keys(0, 3), LeaseTerms.defaults()));
    SlowReader reader = new SlowReader();
    value(holds.read(lease.id(), keys(0, 3), scope)).windows(1, scope).subscribe(reader);
    pass(LIFE.multipliedBy(7));
    fill(stack, 100, 100 + 2 * CAPACITY);
    assertThat(present(stack, 0, 1, 2)).isEqualTo("111");
    reader.request(9);
    assertThat(reader.got).hasSize(3);
    assertThat(reader.failures).isEmpty();
  }

  @Test
  void releaseDuringARead_endsItWithAnError_beforeTheNextWindow() {
    fill(stack, 0, CAPACITY);
    ReadLease lease = value(holds.lease(keys(0, 3), LeaseTerms.defaults()));
    SlowReader reader = new SlowReader();
    value(holds.read(lease.id(), keys(0, 3), scope)).windows(1, scope).subscribe(reader);
    assertThat(value(holds.release(lease.id()))).isTrue();
    assertThat(value(holds.release(lease.id()))).isFalse();
    reader.request(9);
    assertThat(reader.got).hasSize(1);
    assertThat(reader.failures).singleElement().isInstanceOf(LeaseExpiredException.class);
  }

  @Test
  void releaseDuringTheLastWindow_endsItsSlicesWithAnError() {
    fill(stack, 0, 1);
    ReadLease lease = value(holds.lease(keys(0, 1), LeaseTerms.defaults()));
    List<Throwable> failures = new ArrayList<>();
    SliceShape shape = new SliceShape(1, 4096, SliceShape.Order.LAYER_FIRST, 0);
    value(holds.read(lease.id(), keys(0, 1), scope)).slices(shape, scope)
        .doOnNext(slice -> holds.release(lease.id()).block(SOON))
        .subscribe(slice -> slice.close(), failures::add);
    assertThat(failures).singleElement().isInstanceOf(LeaseExpiredException.class);
  }

  @Test
  void endOfAParty_endsItsLeases_butThoseThatSurvive() {
    fill(stack, 0, 4);
    TierHolds other = stack.holds("other");
    ReadLease mine = value(other.lease(keys(0, 1), LeaseTerms.defaults()));
    ReadLease kept = value(other.lease(keys(1, 2), LeaseTerms.defaults().withSurvives(true)));
    other.close();
    assertThatThrownBy(() -> readUnder(stack, mine.id(), keys(0, 1))).isInstanceOf(LeaseExpiredException.class);
    assertThat(readUnder(stack, kept.id(), keys(1, 2))).containsExactly(0);
    pass(LIFE);
    assertThat(stat(stack).holds().leases()).isZero();
  }

  @Test
  void leasesOfAllParties_leaveAQuarterOfTheBlocks_andOnePartyHasHalfOfTheRestAtMost() {
    fill(stack, 0, CAPACITY);
    for (int party = 0; party < 30; party++) {
      TierHolds of = stack.holds("party " + party % 3);
      for (int i = 0; i < 5; i++) {
        of.lease(keys(party % 11, CAPACITY), LeaseTerms.defaults()).block(SOON);
      }
      assertThat(stat(stack).holds().leasedBlocks()).isLessThanOrEqualTo(party == 0 ? 6 : 12);
    }
    fill(stack, 100, 200);
    assertThat(stack.contains(keys(196, 200)).map(Presence::count).block(SOON)).as("room for writers").isEqualTo(4);
  }

  @Test
  void partyWithTooManyLeases_isRefused_withBothNumbers() {
    TierStack small = new TierStack(SPACE, List.of(new StackLevel.Host("dram", CAPACITY)),
        options.withHolds(HoldOptions.defaults().withLeasesPerParty(1)), TierListener.noop(), () -> now);
    fill(small, 0, 2);
    small.holds("one").lease(keys(0, 1), LeaseTerms.defaults()).block(SOON);
    assertThatThrownBy(() -> small.holds("one").lease(keys(0, 1), LeaseTerms.defaults()).block(SOON))
        .isInstanceOf(HoldLimitException.class).hasMessage("read leases of one party must be <= 1 (was 2)");
    assertThat(value(small.holds("two").lease(keys(0, 1), LeaseTerms.defaults())).id()).isNotZero();
    assertThatThrownBy(() -> holds.lease(keys(0, 1), LeaseTerms.defaults().withLife(Duration.ofHours(1))))
        .isInstanceOf(IllegalArgumentException.class);
    assertClosesClean(small);
  }

  // Groups

  @Test
  void hitOnAMember_leasesItsGroup_andRenewsThatWhenHalfOfItsLifeIsOver() {
    put(stack, keys(0, 2), PutTerms.plain().withGroup("turn 1"));
    fill(stack, 2, CAPACITY);
    pass(LIFE);
    read(stack, 0);
    fill(stack, 100, 100 + 2 * CAPACITY);
    assertThat(present(stack, 0, 1, 2)).isEqualTo("110");

    pass(LIFE.dividedBy(2)); // half is left: not renewed
    read(stack, 1);
    pass(LIFE.dividedBy(2).minusMillis(1)); // less is left: renewed
    read(stack, 1);
    pass(LIFE.minusMillis(1));
    fill(stack, 200, 200 + 2 * CAPACITY);
    assertThat(present(stack, 0, 1)).isEqualTo("11");
    pass(Duration.ofMillis(1));
    fill(stack, 300, 300 + CAPACITY);
    assertThat(present(stack, 0, 1)).isEqualTo("00");
  }

  private void put(TierStack tier, List<BlockKey> keys, PutTerms terms) {
    try (BlockScope own = new BlockScope()) {
      Reservation room = value(tier.reserve(keys, terms, own));
      room.drafts().forEach(Blocks::produce);
      room.commit(room.drafts()).block(SOON);
    }
  }

  // Pins

  @Test
  void hardPinnedBlock_isNeverEvicted_andIsRemoved() {
    fill(stack, 0, CAPACITY);
    assertThat(value(holds.pin(List.of(key(0), key(99), key(5)), Pin.hard()))).containsExactly(OK, NOT_FOUND, OK);
    pass(Duration.ofDays(400));
    fill(stack, 100, 200);
    assertThat(present(stack, 0, 1, 5)).isEqualTo("101");
    assertThat(value(holds.remove(keys(0, 1), false))).containsExactly(OK);
    assertThat(value(holds.pin(List.of(key(5), key(199), key(99)), Pin.none()))).containsExactly(OK, UNCHANGED,
        NOT_FOUND);
    fill(stack, 200, 300);
    assertThat(present(stack, 0, 5)).isEqualTo("00");
    assertThat(stat(stack).holds().hardPinned()).isZero();
    assertThat(stat(stack).holds().hardPassed()).isPositive();
  }

  @Test
  void softPinnedBlock_isEvictedWhenNothingElseCanBe_andItsLifeIsNotRenewedByReads() {
    fill(stack, 0, CAPACITY);
    holds.pin(keys(0, 8), Pin.soft(Duration.ZERO)).block(SOON);
    fill(stack, 100, 200);
    assertThat(present(stack, 0, 1, 2, 3, 4, 5, 6, 7)).isEqualTo("11111111");

    holds.pin(keys(196, 200), Pin.none()).block(SOON);
    stack.holds("a").lease(keys(192, 198), LeaseTerms.defaults()).block(SOON);
    stack.holds("b").lease(keys(198, 200), LeaseTerms.defaults()).block(SOON);
    fill(stack, 300, 310);
    assertThat(stack.contains(keys(0, 8)).map(Presence::count).block(SOON)).as("others could be evicted").isEqualTo(8);

    pass(Duration.ofMinutes(30).minusMillis(1));
    read(stack, 0);
    pass(Duration.ofMillis(1));
    fill(stack, 400, 416);
    assertThat(present(stack, 0, 1)).isEqualTo("00");
  }

  @Test
  void softPinnedBlocks_yieldToNewOnes_whenLeasesAndHardPinsHoldTheRest() {
    TierStack small = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 4)),
        options.withHolds(HoldOptions.defaults().withPinShare(1)), TierListener.noop(), () -> now);
    fill(small, 0, 4);
    TierHolds of = small.holds("me");
    of.pin(keys(0, 2), Pin.soft(Duration.ZERO)).block(SOON);
    of.pin(keys(2, 4), Pin.hard()).block(SOON);
    fill(small, 10, 11);
    assertThat(present(small, 0, 1, 2, 3, 10)).isEqualTo("01111");
    assertClosesClean(small);
  }

  @Test
  void pinsBeyondTheirShare_areRefused_withBothNumbers_andPinNothing() {
    fill(stack, 0, CAPACITY);
    assertThatThrownBy(() -> holds.pin(keys(0, 9), Pin.hard()).block(SOON)).isInstanceOf(HoldLimitException.class)
        .hasMessage("pinned blocks must be <= 8 (was 9)");
    assertThat(stat(stack).holds().hardPinned()).isZero();
    holds.pin(keys(0, 8), Pin.hard()).block(SOON);
    holds.pin(keys(0, 8), Pin.soft(Duration.ZERO)).block(SOON); // other pins of the same blocks
    assertThatThrownBy(() -> put(stack, keys(20, 21), PutTerms.plain().withPin(Pin.hard())))
        .isInstanceOf(HoldLimitException.class);
    assertThatThrownBy(() -> holds.pin(keys(0, 1), Pin.soft(Duration.ofHours(25))))
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("86400000");
  }

  @Test
  void pinOfAPut_beginsWhenTheBlockIsVisible_andIsGivenUpWithThePut() {
    Reservation given = value(stack.reserve(keys(50, 58), PutTerms.plain().withPin(Pin.hard()), scope));
    given.close();
    put(stack, keys(0, 4), PutTerms.plain().withPin(Pin.soft(Duration.ofMinutes(1))));
    put(stack, keys(4, 8), PutTerms.plain().withPin(Pin.hard()));
    fill(stack, 100, 200);
    assertThat(stack.contains(keys(0, 8)).map(Presence::count).block(SOON)).isEqualTo(8);
    pass(Duration.ofMinutes(1));
    fill(stack, 200, 300);
    assertThat(stack.contains(keys(0, 8)).map(Presence::prefix).block(SOON)).isZero();
    assertThat(stack.contains(keys(4, 8)).map(Presence::prefix).block(SOON)).isEqualTo(4);
  }

  // Levels

  @Test
  void pinnedBlocks_areDemoted_andLeasedBlocksAreReadFromTheDisk() {
    MemoryStore disk = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
    TierStack tiered =
        new TierStack(SPACE, List.of(new StackLevel.Host("dram", 8), new StackLevel.Stored(disk, 16)), options,
            TierListener.noop(), () -> now);
    for (int i = 0; i < 16; i++) {
      put(tiered, i);
      runTasks();
    }
    TierHolds of = tiered.holds("me");
    assertThat(value(of.pin(keys(0, 2), Pin.hard()))).containsExactly(OK, OK);
    ReadLease lease = value(of.lease(keys(2, 3), LeaseTerms.defaults()));
    for (int i = 100; i < 200; i++) {
      put(tiered, i);
      runTasks();
    }
    assertThat(present(tiered, 0, 1, 2, 3)).isEqualTo("1110");
    Lease read = value(of.read(lease.id(), keys(2, 3), scope));
    List<Integer> positions = new ArrayList<>();
    read.slices(new SliceShape(1, 4096, SliceShape.Order.LAYER_FIRST, 0), scope)
        .subscribe(slice -> {
          positions.add(slice.position(0));
          slice.close();
        });
    runTasks();
    assertThat(positions).isNotEmpty();
    assertThat(disk.numberedBlocks()).as("held blocks are objects").isLessThanOrEqualTo(disk.storedBlocks() - 3);
    assertThat(value(of.remove(keys(0, 3), true))).containsExactly(OK, OK, OK);
    runTasks();
    assertClosesClean(tiered);
  }

  @Test
  void diskThatIsFull_getsRoom_thoughTheNextVictimsArePinned() {
    MemoryStore disk = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
    TierStack tiered =
        new TierStack(SPACE, List.of(new StackLevel.Host("dram", 2), new StackLevel.Stored(disk, 16)), options,
            TierListener.noop(), () -> now);
    for (int i = 0; i < 16; i++) {
      put(tiered, i);
      runTasks();
    }
    assertThat(value(tiered.holds("me").pin(keys(0, 4), Pin.hard()))).containsOnly(OK);
    assertThat(disk.shortage(2)).isEqualTo(2);
    runTasks();
    assertThat(present(tiered, 0, 1, 2, 3, 4, 5, 6)).isEqualTo("1111001");
    assertClosesClean(tiered);
  }

  // Puts that are not finished

  @Test
  void writerWhoseKeyAnotherTookOver_getsTheSameReceiptsAgain() {
    Reservation slow = value(stack.reserve(keys(0, 2), scope));
    slow.drafts().forEach(Blocks::produce);
    pass(Duration.ofSeconds(30));
    assertThat(value(stack.reserve(keys(1, 2), scope)).drafts()).hasSize(1);
    List<Receipt> receipts = value(slow.commit(slow.drafts()));
    assertThat(receipts).extracting(Receipt::key).containsExactly(key(0));
    assertThat(value(slow.commit(slow.drafts()))).isEqualTo(receipts);
  }

  // Removals

  @Test
  void removal_leavesWhatALeaseHolds_unlessForced_andWhatIsBeingWritten_evenThen() {
    fill(stack, 0, 4);
    holds.pin(keys(1, 2), Pin.hard()).block(SOON);
    holds.lease(keys(2, 4), LeaseTerms.defaults()).block(SOON);
    value(stack.reserve(keys(4, 5), scope));
    assertThat(value(holds.remove(keys(0, 6), false)))
        .containsExactly(OK, OK, LEASED, LEASED, NOT_READY, NOT_FOUND);
    assertThat(value(stack.remove(keys(2, 3))).count()).isZero();
    assertThat(value(holds.remove(keys(2, 6), true))).containsExactly(OK, OK, NOT_READY, NOT_FOUND);
    assertThat(removed(stack)).containsExactlyElementsOf(keys(0, 4));
  }

  private static List<BlockKey> removed(TierStack tier) {
    return history(tier).stream().filter(TierEvent.Removed.class::isInstance)
        .map(event -> ((TierEvent.Removed) event).key()).toList();
  }

  @Test
  void removalByFilter_removesEachKeyThatItTakes_numbersOnADiskToo_withAnEventForEach() {
    MemoryStore disk = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
    TierStack tiered = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 8), new StackLevel.Stored(disk, 4000)),
        options.withIngressBlocks(64), TierListener.noop(), () -> now);
    for (int i = 0; i < 3000; i += 50) {
      putAll(tiered, keys(i, i + 50));
      runTasks();
    }
    TierHolds of = tiered.holds("me");
    of.lease(keys(2998, 3000), LeaseTerms.defaults()).block(SOON);
    List<BlockKey> half = keys(0, 3000).stream().filter(key -> (key.hash().low() & 1) == 0).toList();
    RemovalCount some =
        value(of.remove(new KeyFilter("even", key -> (key.hash().low() & 1) == 0), true).reduce(RemovalCount::plus));
    assertThat(some.removed()).isEqualTo(half.size());
    assertThat(removed(tiered)).containsExactlyInAnyOrderElementsOf(half);

    value(tiered.reserve(keys(5000, 5002), scope));
    ReadLease again = value(of.lease(keys(2900, 3000), ANY));
    RemovalCount all = value(of.remove(KeyFilter.all(), false).reduce(RemovalCount::plus));
    assertThat(all.removed() + all.leased()).isEqualTo(3000 - half.size());
    assertThat(all.leased()).isPositive().isGreaterThanOrEqualTo(again.leased().count());
    assertThat(value(of.remove(KeyFilter.all(), true).reduce(RemovalCount::plus)).removed()).isEqualTo(all.leased());
    assertThat(stat(tiered).blocks()).isZero();
    assertThat(removed(tiered)).hasSize(3000);
    runTasks();
    scope.close();
    assertClosesClean(tiered);
  }
}
