package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierHolds.RemovalCount;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/// What a tier with [TierHolds] promises to who leases, pins and removes. A test of a tier's contract has it beside
/// [BlockTierContract].
public interface TierHoldsContract extends WriteSteps {
  /// A lease that lives as long as a test.
  LeaseTerms LONG = LeaseTerms.defaults().withLife(Duration.ofMinutes(5));

  /// Puts so many other blocks that every block leaves which nothing holds.
  private void crowd(BlockTier tier) {
    for (int from = 20; from < 100; from += BlockTierContract.RESERVE_BLOCKS) {
      put(tier, keys(from, from + BlockTierContract.RESERVE_BLOCKS));
    }
  }

  private List<Integer> readUnder(TierHolds holds, long id, List<BlockKey> keys) {
    try (BlockScope scope = new BlockScope()) {
      List<LeasedBlock> blocks = read(value(holds.read(id, keys, scope)), 2, scope);
      blocks.forEach(leased -> {
        contract().assertBytes(leased.block());
        assertThat(leased.block().key()).isEqualTo(keys.get(leased.position()));
      });
      return positions(blocks);
    }
  }

  @Test
  default void leasedBlocks_stay_untilTheLeaseIsReleased() {
    BlockTier tier = tier(16);
    put(tier, keys(0, 4));
    put(tier, keys(4, 8));
    try (TierHolds holds = tier.holds("me")) {
      ReadLease lease = value(holds.lease(keys(0, 2), LONG));
      assertThat(lease.id()).isPositive();
      assertThat(lease.found()).isEqualTo(presence(2, 0, 1)).isEqualTo(lease.leased());
      assertThat(lease.life()).isEqualTo(LONG.life());
      crowd(tier);
      assertThat(value(tier.match(keys(0, 2)))).isEqualTo(2);
      assertThat(value(tier.contains(keys(2, 8))).count()).as("blocks that nothing holds").isLessThan(6);
      assertThat(readUnder(holds, lease.id(), List.of(key(1), key(60), key(0)))).contains(0, 2);
      assertThat(value(holds.release(lease.id()))).isTrue();
      assertThat(value(holds.release(lease.id()))).isFalse();
      assertThatThrownBy(() -> readUnder(holds, lease.id(), keys(0, 2))).isInstanceOf(LeaseExpiredException.class);
    }
  }

  @Test
  default void lease_findsThePrefix_orWhateverIsThere_andNothingHasNoName() {
    BlockTier tier = tier(16);
    put(tier, List.of(key(0), key(1), key(3)));
    try (TierHolds holds = tier.holds("me")) {
      assertThat(value(holds.lease(keys(0, 5), LONG)).found()).isEqualTo(presence(5, 0, 1));
      assertThat(value(holds.lease(keys(0, 5), LONG.withPrefixOnly(false))).found()).isEqualTo(presence(5, 0, 1, 3));
      ReadLease none = value(holds.lease(keys(1, 1), LONG));
      assertThat(none.id()).isZero();
      assertThat(value(holds.lease(keys(8, 10), LONG)).id()).isZero();
    }
  }

  @Test
  default void lease_ofAGivenName_holdsWhatWasLeasedBefore_too() {
    BlockTier tier = tier(16);
    put(tier, keys(0, 4));
    LeaseTerms named = LONG.withId(4711);
    try (TierHolds holds = tier.holds("me")) {
      assertThat(value(holds.lease(keys(0, 1), named)).id()).isEqualTo(4711);
      assertThat(value(holds.lease(keys(1, 2), named)).id()).isEqualTo(4711);
      assertThat(value(holds.lease(keys(9, 10), named)).leased().count()).isZero();
      crowd(tier);
      assertThat(readUnder(holds, 4711, keys(0, 2))).containsExactly(0, 1);
      assertThat(value(holds.release(4711))).isTrue();
      assertThat(value(holds.release(4711))).isFalse();
    }
  }

  @Test
  default void close_endsTheLeases_butThoseThatSurvive() {
    BlockTier tier = tier(16);
    put(tier, keys(0, 4));
    try (TierHolds other = tier.holds("other")) {
      TierHolds holds = tier.holds("me");
      long own = value(holds.lease(keys(0, 1), LONG)).id();
      long surviving = value(holds.lease(keys(1, 2), LONG.withSurvives(true))).id();
      assertThat(readUnder(other, own, keys(0, 1))).as("who knows it may read under it").containsExactly(0);
      holds.close();
      await("the lease has ended", () -> !value(other.read(own, List.of(), new BlockScope()).hasElement()
          .onErrorResume(LeaseExpiredException.class, ended -> Mono.just(false))));
      crowd(tier);
      assertThat(readUnder(other, surviving, keys(1, 2))).containsExactly(0);
      assertThat(value(other.release(surviving))).isTrue();
    }
  }

  @Test
  default void pinnedBlocks_stay_andEachKeyHasItsOutcome() {
    BlockTier tier = tier(16);
    put(tier, keys(0, 3));
    try (TierHolds holds = tier.holds("me")) {
      assertThat(value(holds.pin(List.of(key(0), key(9), key(1)), Pin.hard())))
          .containsExactly(KeyOutcome.OK, KeyOutcome.NOT_FOUND, KeyOutcome.OK);
      crowd(tier);
      assertThat(value(tier.match(keys(0, 3)))).isGreaterThanOrEqualTo(2);
      assertThat(value(holds.pin(List.of(key(1), key(0)), Pin.none()))).containsOnly(KeyOutcome.OK);
      assertThat(value(holds.pin(List.of(key(1), key(9)), Pin.none())))
          .containsExactly(KeyOutcome.UNCHANGED, KeyOutcome.NOT_FOUND);
    }
  }

  @Test
  default void removal_leavesLeasedBlocks_unlessItIsForced() {
    BlockTier tier = tier(16);
    put(tier, keys(0, 4));
    put(tier, keys(4, 8));
    try (TierHolds holds = tier.holds("me")) {
      value(holds.lease(keys(0, 2), LONG));
      assertThat(value(holds.remove(List.of(key(1), key(2), key(9)), false)))
          .containsExactly(KeyOutcome.LEASED, KeyOutcome.OK, KeyOutcome.NOT_FOUND);
      assertThat(value(holds.remove(List.of(key(1)), true))).containsExactly(KeyOutcome.OK);
      assertThat(value(holds.remove(KeyFilter.all(), false).reduce(RemovalCount.NONE, RemovalCount::plus)))
          .isEqualTo(new RemovalCount(5, 1, 0));
      assertThat(visible(tier, 8)).containsExactly(key(0));
      assertThat(value(holds.remove(KeyFilter.all(), true).reduce(RemovalCount.NONE, RemovalCount::plus)))
          .isEqualTo(new RemovalCount(1, 0, 0));
    }
  }

  @Test
  default void keys_mustBeDistinct() {
    try (TierHolds holds = tier(16).holds("me"); BlockScope scope = new BlockScope()) {
      List<BlockKey> twice = List.of(key(1), key(1));
      assertThatThrownBy(() -> holds.lease(twice, LONG)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> holds.read(1, twice, scope)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> holds.pin(twice, Pin.hard())).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> holds.remove(twice, true)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
