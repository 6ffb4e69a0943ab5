package io.penstock.flow;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/// What a reader makes of one block; empty if the block is not there, or the reader makes nothing of it. It does what
/// operators on [BlockTier#get] would do, which cost more than a short block. Cold; a cancel ends the lease.
final class OneBlock<T> extends Mono<T> {
  private final BlockTier tier;
  private final BlockKey key;
  private final BlockScope scope;
  private final Function<Block, @Nullable T> reader;

  /// @param scope owns the block
  /// @param reader takes over the block
  OneBlock(BlockTier tier, BlockKey key, BlockScope scope, Function<Block, @Nullable T> reader) {
    this.tier = tier;
    this.key = key;
    this.scope = scope;
    this.reader = reader;
  }

  @Override
  public void subscribe(CoreSubscriber<? super T> subscriber) {
    subscriber.onSubscribe(new Reading(subscriber));
  }

  private final class Reading extends Steps<T> {
    private volatile @Nullable Lease lease;
    private @Nullable T answer;

    Reading(CoreSubscriber<? super T> subscriber) {
      super(subscriber);
    }

    @Override
    void begin() {
      List<LeasedBlock> here = tier.tryGet(List.of(key), null);
      if (here == null) {
        lease();
      } else if (here.isEmpty()) {
        succeed(null);
      } else {
        take(here.getFirst().block());
      }
    }

    /// Takes a block in memory, if it is intact; the tier finds a damaged one, too, when it leases it.
    private void take(Block block) {
      scope.adopt(block);
      try {
        block.verify("memory");
      } catch (BlockCorruptException e) {
        block.close();
        lease();
        return;
      }
      succeed(reader.apply(block));
    }

    private void lease() {
      tier.lease(List.of(key), OnMiss.SKIP, scope).subscribe(new Leasing());
    }

    @Override
    void free() {
      Lease held = lease;
      if (held != null) {
        held.close();
      }
    }

    private final class Leasing extends Step<Lease> {
      @Override
      public void onNext(Lease leased) {
        lease = leased;
        leased.windows(1, scope).subscribe(new Taking());
      }

      @Override
      public void onComplete() {
        if (lease == null) {
          succeed(null);
        }
      }
    }

    private final class Taking extends Step<List<LeasedBlock>> {
      @Override
      public void onNext(List<LeasedBlock> window) {
        try {
          answer = reader.apply(window.getFirst().block());
        } catch (RuntimeException | Error e) {
          fail(e);
        }
      }

      @Override
      public void onComplete() {
        succeed(answer);
      }
    }
  }
}
