package io.penstock.lab.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/// A simulation that finds nothing proves nothing unless it can find something: here it must.
@Timeout(600)
final class PlantedBugTest {
  private static final int SEEDS = 40;

  @Test
  void tier_thatKeepsAShare_isALeak() {
    assertThat(foundWith(Sabotage.ofTier(LeakingTier::new), Invariant.NOTHING_LEAKED))
        .contains(Invariant.NOTHING_LEAKED);
  }

  @Test
  void tier_thatEvictsTheWrongBlock_disagreesWithTheModel() {
    assertThat(foundWith(Sabotage.ofTier(TouchingTier::new), Invariant.MODEL_AGREES)).contains(Invariant.MODEL_AGREES);
  }

  @Test
  void tier_thatDropsABlockBehindTheModel_isFoundByItsEvents() {
    assertThat(foundWith(Sabotage.ofTier(ForgettingTier::new), Invariant.EVENTS_WHOLE, Invariant.MODEL_AGREES))
        .containsAnyOf(Invariant.EVENTS_WHOLE, Invariant.MODEL_AGREES);
  }

  @Test
  void tier_thatMixesUpPositions_deliversNothingWrong() {
    tierThatMixesUpPositions_deliversNothingWrong(8);
  }

  @Tag("proof")
  @Test
  void tier_thatMixesUpPositions_deliversNothingWrong_atLength() {
    tierThatMixesUpPositions_deliversNothingWrong(SEEDS);
  }

  /// The sender's keys no longer match the request's, so the client refuses the slices and no calm request can succeed.
  private static void tierThatMixesUpPositions_deliversNothingWrong(int seeds) {
    assertThat(foundWith(Sabotage.ofTier(MixingTier::new), seeds, Invariant.NOTHING_WRONG_DELIVERED))
        .contains(Invariant.UNDISTURBED_DELIVERS)
        .doesNotContain(Invariant.NOTHING_WRONG_DELIVERED);
  }

  @Test
  void tier_thatLiesInReceipts_isFoundOut() {
    assertThat(foundWith(Sabotage.ofTier(LyingTier::new), Invariant.MODEL_AGREES)).contains(Invariant.MODEL_AGREES);
  }

  @Test
  void tier_thatNeverAnswers_isAHang() {
    assertThat(foundWith(Sabotage.ofTier(SilentTier::new), Invariant.EVERY_STREAM_ENDS))
        .contains(Invariant.EVERY_STREAM_ENDS);
  }

  @Test
  void budget_thatGrantsTooMuch_isSeenOnTheLinks() {
    assertThat(foundWith(new Sabotage(UnaryOperator.identity(), 1 << 20), Invariant.BYTES_IN_FLIGHT))
        .contains(Invariant.BYTES_IN_FLIGHT);
  }

  /// Which invariants were seen broken, up to the first seed that saw one of `expected`.
  private static Set<Invariant> foundWith(Sabotage sabotage, Invariant... expected) {
    return foundWith(sabotage, SEEDS, expected);
  }

  private static Set<Invariant> foundWith(Sabotage sabotage, int seeds, Invariant... expected) {
    Set<Invariant> found = EnumSet.noneOf(Invariant.class);
    for (long seed = 1; seed <= seeds && Collections.disjoint(found, List.of(expected)); seed++) {
      try {
        Simulation.run(ScenarioDraw.of(seed), sabotage);
      } catch (ViolationException e) {
        found.add(e.invariant());
        assertThat(e).hasMessageContaining("penstock simulate --seeds " + seed + ".." + seed);
      }
    }
    return found;
  }

  private static class TamperingTier extends SaboteurTier {
    private final UnaryOperator<List<LeasedBlock>> tampering;

    TamperingTier(BlockTier tier, UnaryOperator<List<LeasedBlock>> tampering) {
      super(tier);
      this.tampering = tampering;
    }

    @Override
    public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
      return tier.lease(keys, onMiss, scope).map(lease -> new SaboteurLease(lease, tampering));
    }
  }

  private static final class LeakingTier extends TamperingTier {
    LeakingTier(BlockTier tier) {
      super(tier, window -> {
        window.getFirst().block().share(); // it is never closed
        return window;
      });
    }
  }

  private static final class MixingTier extends TamperingTier {
    MixingTier(BlockTier tier) {
      super(tier, window -> {
        List<LeasedBlock> mixed = new ArrayList<>(window);
        if (window.size() > 1) {
          mixed.set(0, new LeasedBlock(window.get(0).position(), window.get(1).block()));
          mixed.set(1, new LeasedBlock(window.get(1).position(), window.get(0).block()));
        }
        return mixed;
      });
    }
  }

  /// Counts every question as a use.
  private static final class TouchingTier extends SaboteurTier {
    TouchingTier(BlockTier tier) {
      super(tier);
    }

    @Override
    public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
      return tier.lease(keys, onMiss, scope).doOnNext(lease -> touch(keys.getFirst()));
    }

    private void touch(BlockKey key) {
      try (BlockScope scope = new BlockScope()) {
        tier.lease(List.of(key), OnMiss.SKIP, scope).subscribe();
      }
    }
  }

  private static final class ForgettingTier extends SaboteurTier {
    private int leases;

    ForgettingTier(BlockTier tier) {
      super(tier);
    }

    @Override
    public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
      return tier.lease(keys, onMiss, scope).doOnNext(lease -> {
        if (++leases == 3) {
          tier.remove(keys).subscribe();
        }
      });
    }
  }

  private static final class LyingTier extends SaboteurTier {
    LyingTier(BlockTier tier) {
      super(tier);
    }

    @Override
    public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
      return tier.reserve(keys, scope).map(LyingReservation::new);
    }
  }

  private static final class LyingReservation extends Reservation {
    private final Reservation reservation;

    LyingReservation(Reservation reservation) {
      this.reservation = reservation;
    }

    @Override
    public List<BlockDraft> drafts() {
      return reservation.drafts();
    }

    @Override
    public Presence skipped() {
      return reservation.skipped();
    }

    @Override
    public Mono<List<Receipt>> commit(List<BlockDraft> complete) {
      return reservation.commit(complete).map(receipts -> receipts.stream()
          .map(receipt -> new Receipt(receipt.key(), receipt.tier(), receipt.durability(), receipt.sequence() + 1))
          .toList());
    }

    @Override
    protected void free() {
      reservation.close();
    }
  }

  private static final class SilentTier extends SaboteurTier {
    private int leases;

    SilentTier(BlockTier tier) {
      super(tier);
    }

    @Override
    public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
      return ++leases == 2 ? Mono.never() : tier.lease(keys, onMiss, scope);
    }
  }
}
