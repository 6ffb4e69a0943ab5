package io.penstock.stack.move;

import io.penstock.block.BlockCorruptException;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.tier.spi.BlockUnreadableException;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.List;

/// Decides which blocks a failed copy to or from a store costs. Used in decisions only.
public final class StoreFailures {
  private final Decisions decisions;
  private final StackHistory history;
  private final Removals removals;
  private final Placement placement;
  private final StoreSlots slots;
  private final int level;
  private final String store;

  StoreFailures(Decisions decisions, StackHistory history, Removals removals, Placement placement, StoreSlots slots,
      int level, String store) {
    this.decisions = decisions;
    this.history = history;
    this.removals = removals;
    this.placement = placement;
    this.slots = slots;
    this.level = level;
    this.store = store;
  }

  /// Handles a store that did not take `block`: a slower copy of it stays, else the block leaves.
  void notTaken(Resident block, Throwable error, DeferredActions after) {
    if (names(error, block)) {
      lose(block, error, after);
    } else if (block.fastestStore() > level) {
      StoreSlots.dropHost(block, after); // the slower copy stays until the block is read
    } else if (!(error instanceof StoreUnavailableException)) {
      removals.lose(block, store + " did not take it: " + error.getMessage(), after);
    } else if (placement.isOnOwnLevel(block)) {
      placement.defer(block); // this copy would only have repeated the block
    } else {
      removals.evict(block, after);
    }
  }

  /// Handles a store that failed to give `blocks`: if `error` names one damaged block, that block alone is lost. If the
  /// store is busy or unhealthy, no block suffers. Else the stack drops these copies: blocks without another copy are
  /// lost, so that asking again is a miss and no error.
  public void notGiven(List<Resident> blocks, Throwable error, DeferredActions after) {
    List<Resident> named = blocks.stream().filter(block -> names(error, block)).toList();
    named.forEach(block -> lose(block, error, after));
    if (named.isEmpty() && !decisions.isClosed() && !(error instanceof StoreBusyException)
        && !(error instanceof StoreUnavailableException)) {
      blocks.forEach(block -> drop(block, error, after));
    }
  }

  /// Whether `error` says that the bytes of `block` alone are damaged or unreadable.
  private static boolean names(Throwable error, Resident block) {
    return switch (error) {
      case BlockCorruptException corrupt -> corrupt.key().equals(block.key());
      case BlockUnreadableException unreadable -> unreadable.key().equals(block.key());
      default -> false;
    };
  }

  private void lose(Resident named, Throwable error, DeferredActions after) {
    boolean damaged = error instanceof BlockCorruptException;
    if (damaged && !decisions.isClosed()) {
      history.corrupt(after);
    }
    removals.lose(named, damaged ? "checksum mismatch" : store + " did not give it", after);
  }

  private void drop(Resident block, Throwable error, DeferredActions after) {
    if (block.isElsewhereThan(level)) {
      slots.dropCopy(block, level, after);
    } else {
      removals.lose(block, store + " did not give it: " + error.getMessage(), after);
    }
  }
}
