package io.penstock.tier;

import io.penstock.tier.spi.BlockUnreadableException;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.block.BlockCorruptException;
import io.penstock.tier.StackEntry.Resident;
import java.util.List;

/// What it costs that a store did not take blocks, or did not give them. Under the stack's lock.
final class StoreFailures {
  private final StackBooks books;
  private final Mover mover;
  private final int level;
  private final String store;

  StoreFailures(StackBooks books, Mover mover, int level, String store) {
    this.books = books;
    this.mover = mover;
    this.level = level;
    this.store = store;
  }

  /// Whether `error` says that the bytes of `entry`, and of no other, are damaged or cannot be had.
  private static boolean names(Throwable error, Resident entry) {
    return switch (error) {
      case BlockCorruptException corrupt -> corrupt.key().equals(entry.key);
      case BlockUnreadableException unreadable -> unreadable.key().equals(entry.key);
      default -> false;
    };
  }

  private void lose(Resident named, Throwable error, Aftermath after) {
    boolean damaged = error instanceof BlockCorruptException;
    if (damaged && !books.isClosedNow()) {
      books.departures.countCorrupt(after);
    }
    books.departures.lose(named, damaged ? "checksum mismatch" : store + " did not give it", after);
  }

  /// The store did not take `entry`: it stays lower down if it rests there, and else leaves.
  void notTaken(Resident entry, Throwable error, Aftermath after) {
    if (names(error, entry)) {
      lose(entry, error, after);
    } else if (entry.fastestPlace() > level) {
      mover.dropHost(entry, after); // it stays lower down until somebody reads it
    } else if (!(error instanceof StoreUnavailableException)) {
      books.departures.lose(entry, store + " did not take it: " + error.getMessage(), after);
    } else if (mover.isHome(entry)) {
      mover.defer(entry); // what was to repeat it
    } else {
      books.departures.evict(entry, after);
    }
  }

  /// The store failed to give `entries`: none suffers if it was too busy, or gives nothing now; the damaged one is
  /// lost, if one is named; else all of them are looked for elsewhere from now on, or are lost, so that asking again is
  /// a miss and no error.
  void notGiven(List<Resident> entries, Throwable error, Aftermath after) {
    boolean named = false;
    for (Resident entry : entries) {
      if (names(error, entry)) {
        lose(entry, error, after);
        named = true;
      }
    }
    if (!named && !books.isClosedNow() && !(error instanceof StoreBusyException)
        && !(error instanceof StoreUnavailableException)) {
      entries.forEach(entry -> drop(entry, error, after));
    }
  }

  private void drop(Resident entry, Throwable error, Aftermath after) {
    if (entry.hasOtherThan(level)) {
      mover.dropPlace(entry, level, after);
    } else {
      books.departures.lose(entry, store + " did not give it: " + error.getMessage(), after);
    }
  }
}
