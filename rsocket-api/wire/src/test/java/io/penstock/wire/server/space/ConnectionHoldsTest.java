package io.penstock.wire.server.space;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Lease;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ForwardingTier;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Leases that survive their connection, and are made while the connection ends or its caller loses the right to read.
final class ConnectionHoldsTest {
  private static final List<BlockKey> KEYS = Blocks.keys(Blocks.smallSpace(), 0, 2);
  private static final LeaseTerms SURVIVES = LeaseTerms.defaults().withSurvives(true);

  private final HostTier tier = new HostTier(Blocks.smallSpace(), 4, TierListener.noop());
  private final ConnectionHolds holds = new ConnectionHolds("here");

  @BeforeEach
  void fill() {
    try (BlockScope scope = new BlockScope()) {
      Reservation room = requireNonNull(tier.reserve(KEYS, scope).block());
      room.drafts().forEach(Blocks::produce);
      room.commit(room.drafts()).block();
    }
  }

  @AfterEach
  void close() {
    holds.close();
    tier.close().block();
  }

  private long leases() {
    return requireNonNull(tier.stat().block()).holds().leases();
  }

  @Test
  void leaseThatSurvives_endsWithTheRightAlone() {
    holds.lease(tier, KEYS, SURVIVES).block();
    holds.endWhere(other -> false);
    assertThat(leases()).isEqualTo(1);
    holds.endWhere(lost -> true);
    assertThat(leases()).isZero();
    holds.lease(tier, KEYS, SURVIVES).block();
    holds.close();
    assertThat(leases()).isEqualTo(1);
  }

  @Test
  void leaseThatIsMadeWhileTheRightIsLost_ends() {
    holds.lease(new Meanwhile(tier, () -> holds.endWhere(lost -> true)), KEYS, SURVIVES).block();
    assertThat(leases()).isZero();
  }

  @Test
  void leaseThatIsMadeWhileTheConnectionCloses_ends() {
    holds.lease(new Meanwhile(tier, holds::close), KEYS, SURVIVES).block();
    assertThat(leases()).isZero();
  }

  /// Runs an action between the making of a lease and its answer.
  private static final class Meanwhile extends ForwardingTier {
    private final Runnable action;

    private Meanwhile(HostTier tier, Runnable action) {
      super(tier);
      this.action = action;
    }

    @Override
    public TierHolds holds(Object party) {
      TierHolds inner = super.holds(party);
      return new TierHolds() {
        @Override
        public Mono<ReadLease> lease(List<BlockKey> keys, LeaseTerms terms) {
          return inner.lease(keys, terms).doOnNext(made -> action.run());
        }

        @Override
        public Mono<Boolean> release(long id) {
          return inner.release(id);
        }

        @Override
        public Mono<Lease> read(long id, List<BlockKey> keys, BlockScope scope) {
          return inner.read(id, keys, scope);
        }

        @Override
        public Mono<List<KeyOutcome>> pin(List<BlockKey> keys, Pin pin) {
          return inner.pin(keys, pin);
        }

        @Override
        public Mono<List<KeyOutcome>> remove(List<BlockKey> keys, boolean force) {
          return inner.remove(keys, force);
        }

        @Override
        public Flux<RemovalCount> remove(KeyFilter which, boolean force) {
          return inner.remove(which, force);
        }

        @Override
        protected void free() {
          inner.close();
        }
      };
    }
  }
}
