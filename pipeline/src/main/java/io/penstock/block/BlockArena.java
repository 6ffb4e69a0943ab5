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
  @Nullable List<BlockDraft> tryClaim(List<BlockKey> keys);

  /// Lends a draft for every key, all at once, as soon as there is room and those who came before were served.
  ///
  /// `granted` runs on the caller's thread or on the one that freed the memory; it owns the drafts and must not block.
  ///
  /// @return the place in line
  /// @throws IllegalArgumentException if `keys` is empty or more than the arena can ever hold
  /// @throws BudgetExhaustedException if too many wait
  Permits.Ticket claim(List<BlockKey> keys, Consumer<List<BlockDraft>> granted);

  /// Slots lent and not given back.
  long claimedSlots();

  /// Most slots ever lent at one time.
  long highWaterSlots();

  /// Slots there can be.
  long capacitySlots();
}
