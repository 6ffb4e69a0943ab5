package io.penstock.wire.server.space;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.wire.protocol.WireFormatException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/// Blocks that a prefill rank keeps in its tier for a request: leased until they are given up, however long that takes.
/// A read of no block that does not end keeps the lease alive. Streams that read the blocks when they are given up hold
/// them themselves.
public final class LeasedBlocks implements HeldBlocks {
  private final TierHolds holds;
  private final List<BlockKey> keys;
  private final BlockScope reading = new BlockScope();
  private final AtomicBoolean released = new AtomicBoolean();
  private final Disposable.Swap afterwards = Disposables.swap();

  private LeasedBlocks(TierHolds holds, List<BlockKey> keys) {
    this.holds = holds;
    this.keys = keys;
  }

  /// Leases all blocks of `keys`, or none.
  ///
  /// @param party to whose share they count
  /// @return cold; signals [WireFormatException] if a block is not there, and [HoldLimitException] if the party would
  ///     hold too many
  public static Mono<LeasedBlocks> of(BlockTier tier, Object party, List<BlockKey> keys) {
    return Mono.defer(() -> {
      LeasedBlocks blocks = new LeasedBlocks(tier.holds(party), keys);
      Mono<Void> leased = keys.isEmpty() ? Mono.empty() : Mono.defer(() -> blocks.lease(keys));
      return leased.thenReturn(blocks).doOnError(error -> blocks.releaseNow()).doOnCancel(blocks::releaseNow);
    });
  }

  private Mono<Void> lease(List<BlockKey> keys) {
    return holds.lease(keys, LeaseTerms.defaults().withPrefixOnly(false)).flatMap(lease -> {
      requireAll(lease, keys.size());
      return holds.read(lease.id(), List.of(), reading);
    }).then();
  }

  private static void requireAll(ReadLease lease, int wanted) {
    int found = lease.found().count();
    if (found < wanted) {
      throw WireFormatException.request("keys", "of blocks that the node has", (wanted - found) + " that it lacks");
    } else if (lease.leased().count() < wanted) {
      throw new HoldLimitException("blocks of a kept request", wanted, lease.leased().count());
    }
  }

  @Override
  public boolean isSameAs(HeldBlocks other) {
    return areOf(keys, other);
  }

  /// Whether `blocks` are those of `keys`, which name their space, too.
  public static boolean areOf(List<BlockKey> keys, HeldBlocks blocks) {
    return blocks instanceof LeasedBlocks leased && leased.keys.equals(keys);
  }

  /// Disposes `then` when the blocks are given up, at once if they are.
  public void whenReleased(Disposable then) {
    afterwards.update(then);
  }

  @Override
  public Mono<Void> release() {
    return Mono.fromRunnable(this::releaseNow);
  }

  private void releaseNow() {
    if (!released.getAndSet(true)) {
      reading.close();
      holds.close();
      afterwards.dispose();
    }
  }
}
