package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.Permits;
import io.penstock.block.SlabPart;
import io.penstock.tier.MoveWait.Need;
import io.penstock.tier.StackEntry.Resident;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Brings bytes to where the books say: one block has one copy under way at a time, copies to and from a store go in batches ([Dock]).
///
/// A block keeps what it holds until the copy is there, and holds nothing else while it waits; the order in which memory may wait for
/// memory, and why it has no cycle, stands at [StackMemory].
///
/// A block whose bytes are only below its level rises when somebody reads it, not before.
///
/// Everything here runs under the stack's lock, but for the turns that come and the copies that end, which take it; what must not be done
/// under it (closing, claiming, copying) goes to an [Aftermath].
final class Mover {
  private final StackBooks books;
  private final @Nullable Dock[] docks;
  private final int host;
  private final boolean inclusive;
  /// Whoever is in line.
  private final Set<MoveWait> waits = new LinkedHashSet<>();
  /// Those that are short of a copy until a store is well again.
  private final Set<Resident> deferred = new LinkedHashSet<>();
  /// Entries that were in the books when they closed, until the stores have closed, too.
  private List<StackEntry> last = List.of();
  private boolean storesClosed;

  Mover(StackBooks books) {
    this.books = books;
    this.host = books.host;
    this.inclusive = books.options.mode() == StackMode.WRITE_THROUGH;
    this.docks = new @Nullable Dock[books.levels.size()];
    for (int i = 0; i < docks.length; i++) {
      if (books.levels.get(i) instanceof Level.Stored stored) {
        docks[i] = new Dock(books, this, i, stored);
      }
    }
  }

  private Dock dock(int level) {
    return requireNonNull(docks[level], "store");
  }

  private boolean wanted(Resident entry, int level) {
    return inclusive ? level >= entry.level : level == entry.level;
  }

  private boolean has(Resident entry, int level) {
    return level == host ? entry.host != null && entry.atHost : entry.places[level] != null;
  }

  /// The lowest level on which `entry` belongs and is not, and may get now; −1 if there is none.
  private int missing(Resident entry) {
    for (int level = docks.length - 1; level >= 0; level--) {
      if (wanted(entry, level) && !has(entry, level) && mayGo(entry, level)) {
        return level;
      }
    }
    return -1;
  }

  /// Whether its copy on `level` is to be made now: one that only repeats what is above may wait.
  private boolean mayGo(Resident entry, int level) {
    boolean own = level == entry.level;
    if (takes(level) && (own || level == host || !deferred.contains(entry))) {
      return true;
    }
    deferred.add(entry);
    return false;
  }

  /// Whether its own level cannot have it now, nor any below has it.
  private boolean hasNoHome(Resident entry) {
    if (takes(entry.level)) {
      return false;
    }
    for (int level = entry.level; level < docks.length; level++) {
      if (has(entry, level)) {
        return false;
      }
    }
    return true;
  }

  /// True if a block whose bytes have just been read from a store has a use for them on the host level, or on its way up.
  boolean isWanted(Resident entry) {
    return !entry.gone && !entry.released && !entry.moving && entry.host == null && !books.isClosedNow() && missing(entry) >= 0;
  }

  boolean belongsInHost(Resident entry) {
    return host >= 0 && wanted(entry, host);
  }

  // How the stores are

  /// Hears of the stores from now on. Not under the lock.
  void watchStores() {
    for (Dock dock : docks) {
      if (dock != null) {
        dock.watch();
      }
    }
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
    return docks[level] == null ? StoreHealth.GOOD : books.store(level).health();
  }

  @Nullable CopyStat copies(int level) {
    return docks[level] == null ? null : books.store(level).copies();
  }

  @Nullable DiskStat diskStat(int level) {
    return docks[level] == null ? null : books.store(level).diskStat();
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

  /// Repeats what is above when the store that did not take it does again.
  void defer(Resident entry) {
    deferred.add(entry);
  }

  /// Whether the books want `entry` on a level that has it.
  boolean isHome(Resident entry) {
    return has(entry, entry.level);
  }

  /// The store of `level` takes or gives now what it did not, or the other way round: whoever waited for that is looked after.
  void stateChanged(int level, Aftermath after) {
    List<Resident> touched = new ArrayList<>(deferred);
    deferred.clear();
    for (MoveWait wait : waits) {
      if (wait.target == level) {
        touched.add(wait.entry);
      }
    }
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
      leaveLine(entry, after);
      if (entry.pins == 0) {
        release(entry, after);
      }
    } else {
      settle(entry, after);
    }
  }

  private void settle(Resident entry, Aftermath after) {
    if (hasNoHome(entry)) {
      books.evict(entry, after);
      return;
    }
    int target = missing(entry);
    Need need = target < 0 ? null : need(entry, target);
    if (entry.wait != null && !entry.wait.isFor(need, target)) {
      leaveLine(entry, after);
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
    if (from <= target && !gives(from)) {
      deferred.add(entry);
      return null;
    }
    return from > target ? null : target == host ? Need.HOST_SLOT : Need.BOUNCE;
  }

  private void seek(Resident entry, Need need, int target, Aftermath after) {
    if (need == Need.PLACE && dock(target).tryPlace()) {
      dock(target).put(entry, after);
      return;
    }
    MoveWait wait = new MoveWait(entry, need, target);
    entry.wait = wait;
    waits.add(wait);
    after.then(() -> stand(wait));
  }

  private void leaveLine(Resident entry, Aftermath after) {
    MoveWait wait = entry.wait;
    if (wait != null) {
      entry.wait = null;
      waits.remove(wait);
      after.then(wait::leave);
    }
  }

  // Letting go

  /// Every copy that the books want is there: the others go, but for copies on disk, which cost no memory and save a copy later.
  private void dropSurplus(Resident entry, Aftermath after) {
    if (host < 0 || !wanted(entry, host)) {
      dropHost(entry, after);
    }
    for (int level = 0; level < docks.length; level++) {
      if (!wanted(entry, level) && books.levels.get(level).medium() != Medium.DISK) {
        dropPlace(entry, level, after);
      }
    }
  }

  private void release(Resident entry, Aftermath after) {
    entry.released = true;
    deferred.remove(entry);
    dropHost(entry, after);
    for (int level = 0; level < docks.length; level++) {
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
      dock(level).giveUp(place, after);
      books.figures.counted(entry);
    }
  }

  /// Puts blocks of a commit to the last store.
  void putLast(PutLine.Turn written, Aftermath after) {
    dock(docks.length - 1).put(written, after);
  }

  /// The store of `level` failed to give `entries`.
  void notGiven(int level, List<Resident> entries, Throwable error, Aftermath after) {
    dock(level).failures().notGiven(entries, error, after);
  }

  /// The end of a read of `place`.
  void readEnded(int level, Place place, Aftermath after) {
    dock(level).readEnded(place, after);
  }

  // In line

  /// Gets in line. Not under the lock: the turn may come at once.
  private void stand(MoveWait wait) {
    try {
      wait.take(switch (wait.need) {
        case PLACE -> dock(wait.target).place(() -> placeGranted(wait));
        case HOST_CHARGE -> books.memory.resident().adopt(room -> chargeGranted(wait, room), error -> refused(wait, error));
        case HOST_SLOT -> claim(wait, books.memory.resident());
        case BOUNCE -> claim(wait, books.memory.bounce());
      });
    } catch (RuntimeException e) {
      refused(wait, e);
    }
  }

  private Permits.Ticket claim(MoveWait wait, SlabPart part) {
    return part.claim(List.of(wait.entry.key), drafts -> slotGranted(wait, drafts.getFirst()), error -> refused(wait, error));
  }

  /// Ends the wait; false if it was over before.
  private boolean turn(MoveWait wait) {
    if (wait.entry.wait != wait) {
      return false;
    }
    wait.entry.wait = null;
    waits.remove(wait);
    return true;
  }

  /// There will be no memory: the system has no more. The block cannot stay either, others need its place.
  private void refused(MoveWait wait, Throwable error) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      if (turn(wait)) {
        books.lose(wait.entry, "no memory to move it: " + error.getMessage(), after);
      }
    }
    after.run();
  }

  private void placeGranted(MoveWait wait) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      if (turn(wait)) {
        dock(wait.target).put(wait.entry, after);
      } else {
        after.then(dock(wait.target)::releasePlace);
      }
    }
    after.run();
  }

  private void chargeGranted(MoveWait wait, SlabPart.Room room) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      Block block = wait.entry.host;
      if (turn(wait) && block != null) {
        wait.entry.atHost = true;
        books.figures.arrived(host);
        books.figures.counted(wait.entry);
        hearMoved(wait.entry.fastestPlace(), host, 1, after);
        Block share = block.share();
        after.then(() -> adopt(room, share));
        review(wait.entry, after);
      } else {
        after.close(room);
      }
    }
    after.run();
  }

  private static void adopt(SlabPart.Room room, Block share) {
    try (share) {
      room.adopt(share);
    }
  }

  private void slotGranted(MoveWait wait, BlockDraft draft) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      int from = wait.entry.fastestPlace();
      if (turn(wait) && from >= 0) {
        dock(from).get(wait.entry, draft, wait.need == Need.HOST_SLOT, after);
      } else {
        after.close(draft);
      }
    }
    after.run();
  }

  /// Tells the listener that blocks came to `to`, unless they were written there.
  void hearMoved(int from, int to, int blocks, Aftermath after) {
    if (from >= 0 && blocks > 0) {
      after.hear(() -> books.listener.moved(books.levels.get(from), books.levels.get(to), blocks, blocks * books.blockBytes()));
    }
  }

  // The end

  /// The books have closed with these entries in them: nothing moves any more, host memory goes back.
  void close(List<StackEntry> entries, Aftermath after) {
    last = entries;
    deferred.clear();
    for (Dock dock : docks) {
      if (dock != null) {
        dock.close(after);
      }
    }
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
    leaveLine(entry, after);
    dropHost(entry, after);
    if (!entry.moving && entry.pins == 0 && (entry.gone || storesClosed)) {
      release(entry, after);
    }
  }
}
