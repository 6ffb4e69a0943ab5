package io.penstock.tier;

import io.penstock.block.BlockDraft;
import io.penstock.block.Owned;
import java.util.List;
import reactor.core.publisher.Mono;

/// Room for blocks that are about to be written: reserve, write, then commit. Closing gives back the room that was not
/// committed.
public abstract class Reservation extends Owned {
  /// A draft for each key that the tier wants, in key order. The reservation owns the drafts.
  public abstract List<BlockDraft> drafts();

  /// Keys without a draft, and so without a receipt: the tier has them, or another writer is writing them.
  public abstract Presence skipped();

  /// Those of the skipped keys that are visible: a put of them is done, without a transfer.
  public Presence duplicates() {
    return skipped();
  }

  /// Makes complete drafts of this reservation visible, all in one step, and answers a receipt for each, in order. A
  /// commit of drafts that were all committed before changes nothing and answers the same receipts. A key that another
  /// writer took over, because this one took too long, gets no receipt.
  ///
  /// Signals [io.penstock.block.IncompleteBlockException] if a granule is missing: nothing was published then; and
  /// [TierClosedException].
  ///
  /// @return a cold `Mono`; each subscription is one commit
  public abstract Mono<List<Receipt>> commit(List<BlockDraft> complete);
}
