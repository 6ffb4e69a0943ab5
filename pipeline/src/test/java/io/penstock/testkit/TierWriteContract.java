package io.penstock.testkit;

import static io.penstock.testkit.BlockTierContract.RESERVE_BLOCKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/// What a [BlockTier] promises to who writes: reserve, write, commit or revoke; and remove.
interface TierWriteContract extends WriteSteps {
  @Test
  default void reserve_write_commit_makesVisible_andNotBefore() {
    BlockTier tier = tier(8);
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = value(tier.reserve(keys(0, 3), scope));
      assertThat(reservation.drafts()).extracting(BlockDraft::key).isEqualTo(keys(0, 3));
      assertThat(reservation.skipped().count()).isZero();
      reservation.drafts().forEach(Blocks::produce);
      assertThat(value(tier.contains(keys(0, 3))).count()).isZero();
      List<Receipt> some = value(reservation.commit(reservation.drafts().subList(1, 3)));
      assertThat(some).extracting(Receipt::key).isEqualTo(keys(1, 3));
      assertThat(some).extracting(Receipt::tier).containsOnly(contract().receiptTier(tier));
      assertThat(value(tier.contains(keys(0, 3)))).isEqualTo(presence(3, 1, 2));
      List<Receipt> rest = value(reservation.commit(reservation.drafts().subList(0, 1)));
      if (contract().promises(TierPromise.EVENTS)) {
        assertThat(events(tier, 3)).allSatisfy(event -> assertThat(event).isInstanceOf(TierEvent.Stored.class))
            .extracting(TierEvent::sequence, event -> ((TierEvent.Stored) event).key())
            .containsExactly(tuple(some.get(0).sequence(), key(1)), tuple(some.get(1).sequence(), key(2)),
                tuple(rest.getFirst().sequence(), key(0)));
      }
    }
    assertThat(got(tier, keys(0, 3))).hasSize(3);
  }

  @Test
  default void commit_ofAnIncompleteDraft_publishesNothing_andMayBeRepeated() {
    BlockTier tier = tier(8);
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = value(tier.reserve(keys(0, 2), scope));
      Blocks.produce(reservation.drafts().getFirst());
      BlockDraft second = reservation.drafts().getLast();
      Blocks.produce(second, GranuleRange.whole(0, 3));
      assertThatThrownBy(() -> value(reservation.commit(reservation.drafts())))
          .isInstanceOf(IncompleteBlockException.class);
      assertThat(value(tier.contains(keys(0, 2))).count()).isZero();
      Blocks.produce(second, GranuleRange.whole(3, 1));
      assertThat(value(reservation.commit(reservation.drafts()))).hasSize(2);
    }
    assertThat(got(tier, keys(0, 2))).hasSize(2);
  }

  @Test
  default void commit_twice_answersTheSame_andOfAnothersDraftIsRefused() {
    BlockTier tier = tier(8);
    try (BlockScope scope = new BlockScope()) {
      Reservation one = value(tier.reserve(keys(0, 1), scope));
      Reservation other = value(tier.reserve(keys(1, 2), scope));
      one.drafts().forEach(Blocks::produce);
      other.drafts().forEach(Blocks::produce);
      assertThatThrownBy(() -> value(one.commit(other.drafts()))).isInstanceOf(IllegalArgumentException.class);
      BlockDraft draft = one.drafts().getFirst();
      List<Receipt> receipts = value(one.commit(List.of(draft)));
      assertThat(value(one.commit(List.of(draft)))).isEqualTo(receipts);
      BlockDraft twice = other.drafts().getFirst();
      assertThatThrownBy(() -> value(other.commit(List.of(twice, twice)))).isInstanceOf(RuntimeException.class);
    }
    assertThat(value(tier.contains(keys(0, 1))).count()).isEqualTo(1);
  }

  @Test
  default void revoke_leavesNothing_andTheNextWriterGetsTheKeys() {
    BlockTier tier = tier(8);
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = value(tier.reserve(keys(0, 2), scope));
      Blocks.produce(reservation.drafts().getFirst());
      reservation.close();
      assertThatThrownBy(() -> value(reservation.commit(reservation.drafts())))
          .isInstanceOf(IllegalStateException.class);
      assertThat(value(tier.contains(keys(0, 2))).count()).isZero();
      assertThat(value(tier.reserve(keys(0, 2), scope)).drafts()).hasSize(2);
    }
    assertThat(value(tier.stat()).stored()).isZero();
  }

  @Test
  default void revoke_endsTheStreamOfThoseWhoWait_withoutItsKeys() {
    assumeTrue(contract().reservesAtOnce());
    BlockTier tier = tier(8);
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = value(tier.reserve(keys(0, 2), scope));
      Lease lease = value(tier.lease(keys(0, 2), OnMiss.AWAIT, scope));
      CompletableFuture<List<LeasedBlock>> waiting = reading(lease, 4, scope);
      Blocks.produce(reservation.drafts().getLast());
      value(reservation.commit(reservation.drafts().subList(1, 2)));
      reservation.close();
      assertThat(positions(got(waiting))).containsExactly(1);
    }
  }

  @Test
  default void reserve_ofWhatIsVisibleOrBeingWritten_skipsIt() {
    assumeTrue(contract().reservesAtOnce());
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
  default void reserve_withoutRoom_waitsItsTurn_andCancelLeavesTheQueue() {
    assumeTrue(contract().reservesAtOnce());
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
  default void remove_tellsWhatItRemoved_once() {
    assumeTrue(contract().promises(TierPromise.EVENTS));
    BlockTier tier = tier(8);
    put(tier, keys(0, 2));
    assertThat(value(tier.remove(keys(1, 3)))).isEqualTo(presence(2, 0));
    assertThat(value(tier.remove(keys(1, 3))).count()).isZero();
    assertThat(events(tier, 3)).last().isInstanceOfSatisfying(TierEvent.Removed.class,
        removed -> assertThat(removed.key()).isEqualTo(key(1)));
    assertThat(got(tier, keys(0, 3))).containsExactly(key(0));
  }
}
