package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.spi.CopyStat;
import io.penstock.tier.spi.DiskStat;
import io.penstock.tier.spi.StoreHealth;
import io.penstock.tier.StackEntry.Resident;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The stores of a [TierStack] by level, and how they are as the stack takes them to be. Under the stack's lock, but
/// for [#watch].
final class Docks {
  private final @Nullable Dock[] docks;
  private final List<Level> levels;

  Docks(List<Level> levels) {
    this.levels = levels;
    this.docks = new @Nullable Dock[levels.size()];
  }

  /// Makes those of all stores, once.
  void make(StackBooks books, Mover mover) {
    for (int i = 0; i < docks.length; i++) {
      if (levels.get(i) instanceof Level.Stored stored) {
        docks[i] = new Dock(books, mover, i, stored);
      }
    }
  }

  Dock at(int level) {
    return requireNonNull(docks[level], "store");
  }

  Dock last() {
    return at(docks.length - 1);
  }

  void forEach(Consumer<Dock> each) {
    for (Dock dock : docks) {
      if (dock != null) {
        each.accept(dock);
      }
    }
  }

  /// Hears of the stores from now on. Not under the lock.
  void watch() {
    forEach(Dock::watch);
  }

  /// Whether `level` takes blocks now.
  boolean takes(int level) {
    Dock dock = docks[level];
    return dock == null || dock.state().takes();
  }

  /// Whether what rests on `level` can be had now.
  boolean gives(int level) {
    Dock dock = docks[level];
    return dock == null || dock.state().gives();
  }

  StoreHealth health(int level) {
    return levels.get(level) instanceof Level.Stored stored ? stored.store().health() : StoreHealth.GOOD;
  }

  @Nullable CopyStat copies(int level) {
    return levels.get(level) instanceof Level.Stored stored ? stored.store().copies() : null;
  }

  @Nullable DiskStat diskStat(int level) {
    return levels.get(level) instanceof Level.Stored stored ? stored.store().diskStat() : null;
  }

  /// The fastest store that has `entry` and gives it, the fastest that has it if none does, −1 if none has it.
  int readableLevel(Resident entry) {
    for (int level = 0; level < docks.length; level++) {
      if (entry.places[level] != null && gives(level)) {
        return level;
      }
    }
    return entry.fastestPlace();
  }

  /// Whether the bytes of `entry` can be had now.
  boolean isReadable(Resident entry) {
    if (entry.host != null) {
      return true;
    }
    int level = readableLevel(entry);
    return level >= 0 && gives(level);
  }
}
