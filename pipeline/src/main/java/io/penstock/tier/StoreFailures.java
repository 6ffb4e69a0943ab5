package io.penstock.tier;

import io.penstock.block.BlockCorruptException;
import io.penstock.tier.spi.BlockUnreadableException;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.List;

/// What it costs when a store did not take blocks, or did not give them. Used in decisions only.
final class StoreFailures {
  private final StackState state;
  private final int level;
  private final String store;

  StoreFailures(StackState state, int level, String store) {
    this.state = state;
    this.level = level;
    this.store = store;
  }

  /// The store did not take `block`: it stays lower down if it is stored there, else it leaves.
  void notTaken(Resident block, Throwable error, DeferredActions after) {
    if (names(error, block)) {
      lose(block, error, after);
    } else if (block.fastestStore() > level) {
      state.mover().dropHost(block, after); // it stays lower down until it is read
    } else if (!(error instanceof StoreUnavailableException)) {
      state.removals().lose(block, store + " did not take it: " + error.getMessage(), after);
    } else if (state.mover().isOnOwnLevel(block)) {
      state.mover().defer(block); // the copy here was to repeat it
    } else {
      state.removals().evict(block, after);
    }
  }

  /// The store failed to give `blocks`. A damaged one that `error` names is lost, alone. If the store was busy or gives
  /// nothing now, no block suffers. Else all of them are read elsewhere from now on, or are lost, so that asking again
  /// is a miss and no error.
  void notGiven(List<Resident> blocks, Throwable error, DeferredActions after) {
    List<Resident> named = blocks.stream().filter(block -> names(error, block)).toList();
    named.forEach(block -> lose(block, error, after));
    if (named.isEmpty() && !state.isClosed() && !(error instanceof StoreBusyException)
        && !(error instanceof StoreUnavailableException)) {
      blocks.forEach(block -> drop(block, error, after));
    }
  }

  /// Whether `error` says that the bytes of `block`, and of no other, are damaged or unreadable.
  private static boolean names(Throwable error, Resident block) {
    return switch (error) {
      case BlockCorruptException corrupt -> corrupt.key().equals(block.key());
      case BlockUnreadableException unreadable -> unreadable.key().equals(block.key());
      default -> false;
    };
  }

  private void lose(Resident named, Throwable error, DeferredActions after) {
    boolean damaged = error instanceof BlockCorruptException;
    if (damaged && !state.isClosed()) {
      state.history().corrupt(after);
    }
    state.removals().lose(named, damaged ? "checksum mismatch" : store + " did not give it", after);
  }

  private void drop(Resident block, Throwable error, DeferredActions after) {
    if (block.isElsewhereThan(level)) {
      state.mover().dropCopy(block, level, after);
    } else {
      state.removals().lose(block, store + " did not give it: " + error.getMessage(), after);
    }
  }
}
