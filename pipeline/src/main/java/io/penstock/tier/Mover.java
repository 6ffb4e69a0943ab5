package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.tier.MoveWait.Need;
import io.penstock.tier.StackEntry.Resident;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Brings bytes to where the books say: one block has one copy under way at a time, copies to and from a store go in
/// batches ([Dock]).
///
/// A block keeps what it holds until the copy is there, and holds nothing else while it waits; the order in which
/// memory may wait for memory, and why it has no cycle, stands at [StackMemory].
///
/// A block whose bytes are only below its level rises when somebody reads it, not before.
///
/// Everything here runs under the stack's lock, but for the turns that come and the copies that end, which take it;
/// what must not be done under it (closing, claiming, copying) goes to an [Aftermath].
final class Mover {
  private final StackBooks books;
  private final Docks docks;
  private final MoveLine line;
  private final int host;
  private final boolean inclusive;
  private final int levels;
  /// Those that are short of a copy until a store is well again.
  private final Set<Resident> deferred = new LinkedHashSet<>();
  /// Entries that were in the books when they closed, until the stores have closed, too.
  private List<StackEntry> last = List.of();
  private boolean storesClosed;

  Mover(StackBooks books) {
    this.books = books;
    this.host = books.host;
    this.levels = books.levels.size();
    this.inclusive = books.options.mode() == StackMode.WRITE_THROUGH;
    this.docks = books.docks;
    this.line = new MoveLine(books, this);
    docks.make(books, this);
  }

  private boolean wanted(Resident entry, int level) {
    return inclusive ? level >= entry.level : level == entry.level;
  }

  private boolean has(Resident entry, int level) {
    return level == host ? entry.host != null && entry.atHost : entry.places[level] != null;
  }

  /// Whether `entry` belongs on `level` and is not there.
  boolean isShortOf(Resident entry, int level) {
    return wanted(entry, level) && !has(entry, level);
  }

  /// The lowest level on which `entry` belongs and is not, and may get now; −1 if there is none.
  private int missing(Resident entry) {
    for (int level = levels - 1; level >= 0; level--) {
      if (isShortOf(entry, level) && mayGo(entry, level)) {
        return level;
      }
    }
    return -1;
  }

  /// Whether its copy on `level` is to be made now: one that only repeats what is above may wait.
  private boolean mayGo(Resident entry, int level) {
    boolean own = level == entry.level;
    if (docks.takes(level) && (own || level == host || !deferred.contains(entry))) {
      return true;
    }
    deferred.add(entry);
    return false;
  }

  /// Whether its own level cannot have it now, nor any below has it.
  private boolean hasNoHome(Resident entry) {
    if (docks.takes(entry.level)) {
      return false;
    }
    for (int level = entry.level; level < levels; level++) {
      if (has(entry, level)) {
        return false;
      }
    }
    return true;
  }

  /// True if a block whose bytes have just been read from a store has a use for them on the host level, or on its way
  /// up.
  boolean isWanted(Resident entry) {
    return !entry.gone && !entry.released && !entry.moving && entry.host == null && !books.isClosedNow()
        && missing(entry) >= 0;
  }

  boolean belongsInHost(Resident entry) {
    return host >= 0 && wanted(entry, host);
  }

  // How the stores are

  /// Repeats what is above when the store that did not take it does again.
  void defer(Resident entry) {
    deferred.add(entry);
  }

  /// Whether the books want `entry` on a level that has it.
  boolean isHome(Resident entry) {
    return has(entry, entry.level);
  }

  /// The store of `level` takes or gives now what it did not, or the other way round: whoever waited for that is looked
  /// after.
  void stateChanged(int level, Aftermath after) {
    List<Resident> touched = new ArrayList<>(deferred);
    deferred.clear();
    touched.addAll(line.waitingFor(level));
    touched.forEach(entry -> review(entry, after));
  }

  // Deciding

  /// Looks after `entry` after anything about it changed: starts what it needs, lets go of what it does not.
  void review(Resident entry, Aftermath after) {
    if (entry.released) {
      return;
    }
    if (books.isClosedNow()) {
      retire(entry, after);
    } else if (entry.moving) {
      return;
    } else if (entry.gone) {
      line.leave(entry, after);
      if (entry.pins == 0) {
        release(entry, after);
      }
    } else {
      settle(entry, after);
    }
  }

  private void settle(Resident entry, Aftermath after) {
    if (hasNoHome(entry)) {
      books.departures.evict(entry, after);
      return;
    }
    int target = missing(entry);
    Need need = target < 0 ? null : need(entry, target);
    if (entry.wait != null && !entry.wait.isFor(need, target)) {
      line.leave(entry, after);
    }
    if (target < 0) {
      dropSurplus(entry, after);
    } else if (entry.wait == null && need != null) {
      seek(entry, need, target, after);
    }
    if (books.cool(entry)) {
      deferred.remove(entry);
    }
  }

  /// What `entry` needs to get to `target`; null if its bytes are below, where they stay until somebody reads them.
  private @Nullable Need need(Resident entry, int target) {
    if (entry.host != null) {
      return target == host ? Need.HOST_CHARGE : Need.PLACE;
    }
    int from = entry.fastestPlace();
    if (from <= target && !docks.gives(from)) {
      deferred.add(entry);
      return null;
    }
    return from > target ? null : target == host ? Need.HOST_SLOT : Need.BOUNCE;
  }

  private void seek(Resident entry, Need need, int target, Aftermath after) {
    if (need == Need.PLACE && docks.at(target).tryPlace()) {
      docks.at(target).put(entry, after);
      return;
    }
    line.enter(entry, need, target, after);
  }

  // Letting go

  /// Every copy that the books want is there: the others go, but for copies on disk, which cost no memory and save a
  /// copy later.
  private void dropSurplus(Resident entry, Aftermath after) {
    if (host < 0 || !wanted(entry, host)) {
      dropHost(entry, after);
    }
    for (int level = 0; level < levels; level++) {
      if (!wanted(entry, level) && books.levels.get(level).medium() != Medium.DISK) {
        dropPlace(entry, level, after);
      }
    }
  }

  private void release(Resident entry, Aftermath after) {
    entry.released = true;
    deferred.remove(entry);
    dropHost(entry, after);
    for (int level = 0; level < levels; level++) {
      dropPlace(entry, level, after);
    }
  }

  void dropHost(Resident entry, Aftermath after) {
    Block block = entry.host;
    if (block != null) {
      entry.host = null;
      entry.atHost = false;
      after.close(block);
      books.figures.counted(entry);
    }
  }

  void dropPlace(Resident entry, int level, Aftermath after) {
    Place place = entry.places[level];
    if (place != null) {
      entry.places[level] = null;
      docks.at(level).giveUp(place, after);
      books.figures.counted(entry);
    }
  }

  /// Tells the listener that blocks came to `to`, unless they were written there.
  void hearMoved(int from, int to, int blocks, Aftermath after) {
    if (from >= 0 && blocks > 0) {
      after.hear(() -> books.listener.moved(books.levels.get(from), books.levels.get(to), blocks,
          blocks * books.blockBytes()));
    }
  }

  // The end

  /// The books have closed with these entries in them: nothing moves any more, host memory goes back.
  void close(List<StackEntry> entries, Aftermath after) {
    last = entries;
    deferred.clear();
    docks.forEach(dock -> dock.close(after));
    reviewLast(after);
  }

  /// The stores have closed: what rests on a disk stays there, and memory of a device goes back with the rests.
  void storesClosed(Aftermath after) {
    storesClosed = true;
    reviewLast(after);
    last = List.of();
  }

  private void reviewLast(Aftermath after) {
    for (StackEntry entry : last) {
      if (entry instanceof Resident resident) {
        review(resident, after);
      }
    }
  }

  private void retire(Resident entry, Aftermath after) {
    line.leave(entry, after);
    dropHost(entry, after);
    if (!entry.moving && entry.pins == 0 && (entry.gone || storesClosed)) {
      release(entry, after);
    }
  }
}
