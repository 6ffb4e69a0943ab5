package io.penstock.tier;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import java.util.List;
import reactor.core.publisher.Mono;

/// The read leases, pins and removals of one party at a tier, such as one connection. [#close()] ends the leases of
/// this party that do not survive it; pins stay.
///
/// Keys of a request must be distinct and of the tier's space, else `IllegalArgumentException` at call time. Each
/// `Mono` is cold, and each subscription one decision. Safe from any thread.
public abstract class TierHolds extends Owned {
  /// Finds the visible blocks of `keys` and leases them: they are not evicted while the lease lives. Counts no use.
  ///
  /// Leases of a tier hold a bounded part of its blocks, and one party a part of that; a lease holds the first blocks
  /// found as far as that goes. Signals [HoldLimitException] if the party has too many leases, and
  /// `IllegalArgumentException` if the life is too long.
  public abstract Mono<ReadLease> lease(List<BlockKey> keys, LeaseTerms terms);

  /// Ends the lease `id`; false if it has ended before.
  public abstract Mono<Boolean> release(long id);

  /// Decides on `keys` as [BlockTier#lease] with [OnMiss#SKIP], under the read lease `id`: the blocks that it holds are
  /// there. The lease does not expire while this read goes on, and its life begins again at the end. It is checked
  /// before and after the transfer of each window.
  ///
  /// Signals [LeaseExpiredException], also in the windows.
  ///
  /// @param scope owns the answer; cancelling the `Mono` closes it
  public abstract Mono<Lease> read(long id, List<BlockKey> keys, BlockScope scope);

  /// Pins the visible blocks of `keys`, or ends their pins. Signals [HoldLimitException], and has pinned nothing, if
  /// more blocks would be pinned than may be.
  ///
  /// @return an outcome for each key, in order
  public abstract Mono<List<KeyOutcome>> pin(List<BlockKey> keys, Pin pin);

  /// Removes the visible blocks of `keys`.
  ///
  /// @param force whether to remove blocks that read leases hold, too
  /// @return an outcome for each key, in order
  public abstract Mono<List<KeyOutcome>> remove(List<BlockKey> keys, boolean force);

  /// Removes every block that is visible now and whose key `which` takes. Takes its time in short decisions.
  ///
  /// @param force whether to remove blocks that read leases hold, too
  public abstract Mono<RemovalCount> remove(KeyFilter which, boolean force);
}
