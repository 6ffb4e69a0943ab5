package io.penstock.block;

import io.penstock.block.SlabArena.ArenaClosedException;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.budget.Permits;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Lends memory for blocks of one layout. Memory comes back when the last handle on it closes.
///
/// Safe from any thread.
public interface BlockArena {
  BlockLayout layout();

  /// Lends a draft for every key, or none: null if there is no room now or other claims wait.
  ///
  /// @throws IllegalArgumentException if `keys` is empty or more than the arena can ever hold
  /// @throws ArenaClosedException if the arena was closed
  @Nullable List<BlockDraft> tryClaim(List<BlockKey> keys);

  /// Lends a draft for every key, all at once, as soon as there is room and the earlier claims were served.
  ///
  /// Either `granted` or `failed` runs, once, unless the ticket was cancelled: on the caller's thread, or on the thread
  /// that freed the memory or closed the arena. Neither may block.
  ///
  /// @param granted owns the drafts
  /// @param failed gets [ArenaClosedException] if the arena closed while the claim waited, or the reason why there is
  ///     no memory
  /// @return the place in the queue
  /// @throws IllegalArgumentException if `keys` is empty or more than the arena can ever hold
  /// @throws BudgetExhaustedException if too many claims wait
  /// @throws ArenaClosedException if the arena was closed
  Permits.Ticket claim(List<BlockKey> keys, Consumer<List<BlockDraft>> granted, Consumer<? super Throwable> failed);

  /// Holds slots for keys that are not known yet; null if there is no room now or other claims wait.
  @Nullable HeldSlots tryHold(int slots);

  /// Holds slots for keys that are not known yet, as [#claim] does for known keys.
  Permits.Ticket hold(int slots, Consumer<HeldSlots> granted, Consumer<? super Throwable> failed);

  /// Slots that are lent or held now.
  long claimedSlots();

  /// Highest number of slots lent at one time.
  long highWaterSlots();

  /// Maximum number of slots that the arena can lend.
  long capacitySlots();
}
