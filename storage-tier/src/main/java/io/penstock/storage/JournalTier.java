package io.penstock.storage;

import io.penstock.block.CacheSpace;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.index.JournalRecovery;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ForwardingTier;
import java.util.List;

/// Blocks on a disk with an exact eviction policy: a [TierStack] of one level over a [JournalStore].
///
/// A block is visible once its record is written, so a receipt promises what the store promises. Blocks of earlier runs
/// are visible at once.
public final class JournalTier extends ForwardingTier {
  private final JournalRecovery recovery;

  /// @param store closed with the tier
  /// @param capacityBlocks most visible blocks
  /// @param options of the ledger; the mode is always written through
  public JournalTier(JournalStore store, long capacityBlocks, StackOptions options, TierListener listener) {
    super(new TierStack(store.space(), List.of(new StackLevel.Stored(store, capacityBlocks)),
        options.withMode(StackOptions.Mode.WRITE_THROUGH), listener));
    this.recovery = store.recovery();
  }

  /// Opens the journal of `options` as a tier of its name. Waits until every record's head was read: not for an event
  /// loop.
  ///
  /// @throws io.penstock.KvException as [JournalStore#open(CacheSpace, JournalOptions)] does
  public static JournalTier open(CacheSpace space, long capacityBlocks, JournalOptions options, TierListener listener) {
    StackOptions ledger = StackOptions.defaults(options.name())
        // Each may be a commit of its own, so the disk refuses no block that got memory
        .withIngressBlocks(options.bounds().maxWaitingPuts());
    return new JournalTier(JournalStore.open(space, options), capacityBlocks, ledger, listener);
  }

  /// Result of the opening.
  public JournalRecovery recovery() {
    return recovery;
  }

  @Override
  protected boolean letsSessionsThrough() {
    return true;
  }
}
