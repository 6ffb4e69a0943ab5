package io.penstock.block;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Lends memory for blocks of one layout. What is lent comes back when the last handle on it closes.
///
/// Safe from any thread.
public interface BlockArena {
  BlockLayout layout();

  /// Lends a draft for every key or for none: null means that there is no room now, or that others wait.
  ///
  /// @throws IllegalArgumentException if `keys` is empty or more than the arena can ever hold
  /// @throws ArenaClosedException if the arena was closed
  @Nullable List<BlockDraft> tryClaim(List<BlockKey> keys);

  /// Lends a draft for every key, all at once, as soon as there is room and those who came before were served.
  ///
  /// One of the two runs, once, unless the ticket was cancelled: on the caller's thread, or on the one that freed the
  /// memory or closed the arena. Neither may block.
  ///
  /// @param granted owns the drafts
  /// @param failed hears [ArenaClosedException] when the arena closed before its turn came, or why there was no memory
  /// @return the place in the queue
  /// @throws IllegalArgumentException if `keys` is empty or more than the arena can ever hold
  /// @throws BudgetExhaustedException if too many wait
  /// @throws ArenaClosedException if the arena was closed
  Permits.Ticket claim(List<BlockKey> keys, Consumer<List<BlockDraft>> granted, Consumer<? super Throwable> failed);

  /// Holds slots for keys that are not known yet; null means that there is no room now, or that others wait.
  @Nullable HeldSlots tryHold(int slots);

  /// Holds slots for keys that are not known yet, as [#claim] does for known ones.
  Permits.Ticket hold(int slots, Consumer<HeldSlots> granted, Consumer<? super Throwable> failed);

  /// Slots lent or held, and not given back.
  long claimedSlots();

  /// Most slots ever lent at one time.
  long highWaterSlots();

  /// Slots there can be.
  long capacitySlots();
}
