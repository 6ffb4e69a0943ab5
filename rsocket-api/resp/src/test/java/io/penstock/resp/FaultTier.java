package io.penstock.resp;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.spi.ForwardingLease;
import io.penstock.tier.spi.ForwardingTier;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A tier that fails now and then, as the numbers of a seed say.
final class FaultTier extends ForwardingTier {
  /// What may happen.
  enum Fault {
    /// A block is damaged when it is read.
    DAMAGE,
    /// There is no room.
    FULL,
    /// There is no room, and that is told after a while.
    LATE,
    /// A claim of room is never answered.
    STALL,
    /// A removal or a question fails.
    ERROR
  }

  /// How often what happens; the same for the tiers of one door.
  static final class Faults {
    private final Map<Fault, Double> shares = new EnumMap<>(Fault.class);
    private final Random random;
    private int happened;

    Faults(long seed) {
      random = new Random(seed);
    }

    synchronized void set(Fault fault, double share) {
      shares.put(fault, share);
    }

    synchronized boolean happens(Fault fault) {
      Double share = shares.get(fault);
      boolean happens = share != null && random.nextDouble() < share;
      happened += happens ? 1 : 0;
      return happens;
    }

    /// How many have happened.
    synchronized int happened() {
      return happened;
    }
  }

  private static final Duration LATE = Duration.ofMillis(20);

  private final BlockTier tier;
  private final Faults faults;

  FaultTier(BlockTier tier, Faults faults) {
    super(tier);
    this.tier = tier;
    this.faults = faults;
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    return orError(tier.contains(keys));
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    return orError(tier.remove(keys));
  }

  private <T> Mono<T> orError(Mono<T> answer) {
    return Mono.defer(() -> faults.happens(Fault.ERROR) ? Mono.error(new IllegalStateException("a fault")) : answer);
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return tier.lease(keys, onMiss, scope).map(lease -> scope.adopt(new ForwardingLease(lease) {
      @Override
      public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope window) {
        return super.windows(maxBlocks, window).concatMap(blocks -> {
          if (faults.happens(Fault.DAMAGE)) {
            blocks.forEach(block -> block.block().close());
            return Mono.error(new BlockCorruptException("test", keys.getFirst(), 0, 1, 2));
          }
          return Mono.just(blocks);
        }, 1);
      }
    }));
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return orNone(tier.reserve(keys, scope));
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    return orNone(tier.reserve(keys, terms, scope));
  }

  private Mono<Reservation> orNone(Mono<Reservation> room) {
    Mono<Reservation> none = Mono.error(new Reservation.RoomTimeoutException("test", 1, 0, Duration.ofMillis(1)));
    return Mono.defer(() -> faults.happens(Fault.STALL)
        ? Mono.never()
        : faults.happens(Fault.FULL) ? none : faults.happens(Fault.LATE) ? none.delaySubscription(LATE) : room);
  }
}
