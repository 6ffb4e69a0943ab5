package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// What a [BlockTier] promises to who holds a lease: what was decided stays, and comes window by window.
interface TierLeaseContract extends WriteSteps {
  @Test
  default void lease_skip_findsWhatIsVisible_andWaitsForNothing() {
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
  default void lease_await_deliversTheBlockAtItsCommit() {
    assumeTrue(contract().reservesAtOnce());
    BlockTier tier = tier(8);
    put(tier, List.of(key(1)));
    try (BlockScope scope = new BlockScope(); BlockScope writer = new BlockScope()) {
      Reservation reservation = value(tier.reserve(List.of(key(0)), writer));
      Lease lease = value(tier.lease(keys(0, 3), OnMiss.AWAIT, scope));
      assertThat(lease.found()).isEqualTo(presence(3, 1));
      assertThat(lease.awaited()).isEqualTo(presence(3, 0));
      assertThat(lease.hits()).isEqualTo(presence(3, 0, 1));
      assertThat(lease.admitted().count()).isZero();
      Collector<List<LeasedBlock>> reader = new Collector<>(Long.MAX_VALUE);
      lease.windows(4, scope).subscribe(reader);
      await("the found one, without waiting for the other", () -> reader.seen() == 1);
      assertThat(reader.isOver()).isFalse();
      commitAll(reservation);
      await("the end", reader::isOver);
      assertThat(reader.failure()).isNull();
      assertThat(reader.items().stream().flatMap(List::stream).map(LeasedBlock::position)).containsExactly(1, 0);
      reader.items().stream().flatMap(List::stream).forEach(leased -> Blocks.assertBytes(leased.block()));
    }
  }

  @Test
  default void lease_admit_takesThePlaceOfMissingKeys_andDeliversThemWhenPut() {
    assumeTrue(contract().promises(TierPromise.EXACT_LRU));
    BlockTier tier = tier(2);
    put(tier, keys(0, 2));
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(List.of(key(1), key(7)), OnMiss.ADMIT, scope));
      assertThat(lease.hits()).isEqualTo(presence(2, 0));
      assertThat(lease.admitted()).isEqualTo(presence(2, 1));
      assertThat(value(tier.contains(List.of(key(0), key(1), key(7))))).as("0 was the victim, 7 is not visible yet")
          .isEqualTo(presence(3, 1));
      CompletableFuture<List<LeasedBlock>> blocks = reading(lease, 4, scope);
      put(tier, List.of(key(7)));
      assertThat(positions(got(blocks))).containsExactly(0, 1);
      got(blocks).forEach(leased -> Blocks.assertBytes(leased.block()));
    }
    assertThat(value(tier.contains(List.of(key(1), key(7)))).count()).isEqualTo(2);
  }

  @Test
  default void lease_ofAnAdmittedKey_isAHitThatIsAwaited() {
    assumeTrue(contract().promises(TierPromise.ADMITS));
    BlockTier tier = tier(4);
    try (BlockScope scope = new BlockScope()) {
      Lease first = value(tier.lease(keys(0, 1), OnMiss.ADMIT, scope));
      Lease second = value(tier.lease(keys(0, 1), OnMiss.ADMIT, scope));
      assertThat(first.admitted().count()).isEqualTo(1);
      assertThat(first.hits().count()).isZero();
      assertThat(second.admitted().count()).isZero();
      assertThat(second.hits().count()).isEqualTo(1);
      assertThat(second.awaited().count()).isEqualTo(1);
      CompletableFuture<List<LeasedBlock>> one = reading(first, 1, scope);
      CompletableFuture<List<LeasedBlock>> other = reading(second, 1, scope);
      put(tier, keys(0, 1));
      assertThat(got(one)).hasSize(1);
      assertThat(got(other)).hasSize(1);
    }
  }

  @Test
  default void lease_thatAdmittedAndEnds_takesTheAdmissionWithIt() {
    assumeTrue(contract().promises(TierPromise.ADMITS));
    BlockTier tier = tier(4);
    try (BlockScope scope = new BlockScope()) {
      Lease first = value(tier.lease(keys(0, 1), OnMiss.ADMIT, scope));
      Lease second = value(tier.lease(keys(0, 1), OnMiss.AWAIT, scope));
      CompletableFuture<List<LeasedBlock>> waiting = reading(second, 1, scope);
      first.close();
      assertThat(got(waiting)).isEmpty();
      Lease third = value(tier.lease(keys(0, 1), OnMiss.ADMIT, scope));
      assertThat(third.admitted().count()).as("no writer is left").isEqualTo(1);
    }
  }

  @Test
  default void lease_survivesEvictionAndRemoval() {
    assumeTrue(contract().promises(TierPromise.EXACT_LRU));
    BlockTier tier = tier(2);
    put(tier, keys(0, 2));
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(keys(0, 2), OnMiss.SKIP, scope));
      put(tier, keys(2, 3));
      assertThat(value(tier.remove(keys(0, 3)))).isEqualTo(presence(3, 1, 2));
      assertThat(value(tier.contains(keys(0, 3))).count()).isZero();
      List<LeasedBlock> blocks = read(lease, 1, scope);
      assertThat(positions(blocks)).containsExactly(0, 1);
      blocks.forEach(leased -> Blocks.assertBytes(leased.block()));
    }
  }

  @Test
  default void lease_whoseScopeIsClosed_keepsNothing() {
    BlockTier tier = tier(4);
    put(tier, keys(0, 2));
    BlockScope scope = new BlockScope();
    scope.close();
    tier.lease(keys(0, 3), OnMiss.ADMIT, scope).onErrorComplete().block(PATIENCE);
    tier.reserve(keys(3, 4), scope).onErrorComplete().block(PATIENCE);
    value(tier.remove(keys(0, 4)));
    assertIdle(tier, "closed scope");
    put(tier, keys(2, 4));
    assertThat(value(tier.contains(keys(2, 4))).count()).as("the keys are free").isEqualTo(2);
  }
}
