package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.block.Permits;
import io.penstock.block.SlabPart;
import io.penstock.tier.StackEntry.Resident;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Brings bytes to where the books say: one block has one copy under way at a time, copies to and from a store go in batches.
///
/// A block keeps what it holds until the copy is there, and holds nothing else while it waits; the order in which memory may wait for
/// memory, and why it has no cycle, stands at [StackMemory].
///
/// A block whose bytes are only below its level rises when somebody reads it, not before.
///
/// Everything here runs under the stack's lock, which the methods named `…Done` and `granted…` take; what must not be done under it
/// (closing, claiming, copying) goes to an [Aftermath].
final class Mover {
  /// What a block waits for.
  enum Need { PLACE, HOST_CHARGE, HOST_SLOT, BOUNCE }

  /// A block in line, for the sake of `target`.
  static final class Wait {
    final Resident entry;
    final Need need;
    final int target;
    private Permits.@Nullable Ticket ticket;
    private boolean over;

    Wait(Resident entry, Need need, int target) {
      this.entry = entry;
      this.need = need;
      this.target = target;
    }

    synchronized void take(Permits.Ticket place) {
      ticket = place;
      if (over) {
        place.cancel();
      }
    }

    void leave() {
      Permits.Ticket place;
      synchronized (this) {
        over = true;
        place = ticket;
      }
      if (place != null) {
        place.cancel();
      }
    }
  }

  /// A block on its way from a store to host memory.
  private record Descent(Resident entry, Place place, BlockDraft draft, boolean toHost) {}

  /// The copies of one store. Guarded by the stack's lock.
  private static final class Dock {
    final BlockStore store;
    /// Places of the store that may be used; null if their number is not fixed.
    final @Nullable Permits places;
    final ArrayDeque<Resident> toPut = new ArrayDeque<>();
    final ArrayDeque<Descent> toGet = new ArrayDeque<>();
    boolean putting;
    boolean getting;

    Dock(Level.Stored level, int waiters) {
      this.store = level.store();
      this.places = level.medium() == Medium.DISK ? null
          : new Permits(level.name() + " places", Math.min(level.store().capacityBlocks(), Integer.MAX_VALUE), waiters);
    }
  }

  private final TierStack stack;
  private final Object lock;
  private final List<Level> levels;
  private final @Nullable Dock[] docks;
  private final int host;
  private final boolean inclusive;
  private final int batch;

  Mover(TierStack stack, Object lock, List<Level> levels, int host, StackOptions options) {
    this.stack = stack;
    this.lock = lock;
    this.levels = levels;
    this.host = host;
    this.inclusive = options.mode() == StackMode.WRITE_THROUGH;
    this.batch = options.batchBlocks();
    this.docks = new @Nullable Dock[levels.size()];
    for (int i = 0; i < docks.length; i++) {
      if (levels.get(i) instanceof Level.Stored stored) {
        docks[i] = new Dock(stored, (int) Math.min(Integer.MAX_VALUE, stack.memory().arena.capacitySlots()));
      }
    }
  }

  private Dock dock(int level) {
    return requireNonNull(docks[level], "store");
  }

  private boolean wanted(Resident entry, int level) {
    return inclusive ? level >= entry.level : level == entry.level;
  }

  /// Whether the bytes of `entry` are on `level`.
  boolean has(Resident entry, int level) {
    return level == host ? entry.host != null && entry.atHost : entry.places[level] != null;
  }

  /// The lowest level on which `entry` belongs and is not; −1 if there is none.
  private int missing(Resident entry) {
    for (int level = levels.size() - 1; level >= 0; level--) {
      if (wanted(entry, level) && !has(entry, level)) {
        return level;
      }
    }
    return -1;
  }

  /// True if a block whose bytes have just been read from a store has a use for them on the host level, or on its way up.
  boolean isWanted(Resident entry) {
    return !entry.gone && !entry.moving && entry.host == null && missing(entry) >= 0;
  }

  boolean belongsInHost(Resident entry) {
    return host >= 0 && wanted(entry, host);
  }

  // Deciding, under the lock

  /// Looks after `entry` after anything about it changed: starts what it needs, lets go of what it does not.
  void review(Resident entry, Aftermath after) {
    if (entry.released || entry.moving) {
      return;
    }
    if (entry.gone) {
      leaveLine(entry, after);
      if (entry.pins == 0) {
        release(entry, after);
      }
      return;
    }
    int target = missing(entry);
    Need need = target < 0 ? null : need(entry, target);
    Wait wait = entry.wait;
    if (wait != null && (wait.need != need || wait.target != target)) {
      leaveLine(entry, after);
      wait = null;
    }
    if (target < 0) {
      dropSurplus(entry, after);
    } else if (wait == null && need != null) {
      seek(entry, need, target, after);
    }
  }

  /// What `entry` needs to get to `target`; null if its bytes are below, where they stay until somebody reads them.
  private @Nullable Need need(Resident entry, int target) {
    if (entry.host != null) {
      return target == host ? Need.HOST_CHARGE : Need.PLACE;
    }
    return entry.fastestPlace() > target ? null : target == host ? Need.HOST_SLOT : Need.BOUNCE;
  }

  private void seek(Resident entry, Need need, int target, Aftermath after) {
    if (need == Need.PLACE) {
      Permits places = dock(target).places;
      if (places == null || places.tryAcquire(1)) {
        put(entry, target, after);
        return;
      }
    }
    Wait wait = new Wait(entry, need, target);
    entry.wait = wait;
    after.then(() -> stand(wait));
  }

  /// Gets in line. Not under the lock: the turn may come at once.
  private void stand(Wait wait) {
    try {
      wait.take(switch (wait.need) {
        case PLACE -> requireNonNull(dock(wait.target).places).acquire(1, () -> placeGranted(wait));
        case HOST_CHARGE -> stack.memory().resident().adopt(room -> chargeGranted(wait, room), error -> refused(wait, error));
        case HOST_SLOT -> claim(wait, stack.memory().resident());
        case BOUNCE -> claim(wait, stack.memory().bounce());
      });
    } catch (RuntimeException e) {
      refused(wait, e);
    }
  }

  private Permits.Ticket claim(Wait wait, SlabPart part) {
    return part.claim(List.of(wait.entry.key), drafts -> slotGranted(wait, drafts.getFirst()), error -> refused(wait, error));
  }

  /// There will be no memory: the stack is closing, or the system has no more. The block stays where it is.
  private void refused(Wait wait, Throwable error) {
    Aftermath after = stack.aftermath();
    synchronized (lock) {
      if (turn(wait) && !stack.isClosedNow()) {
        stack.lose(wait.entry, "no memory to move it: " + error.getMessage(), after);
      }
    }
    after.run();
  }

  /// Ends the wait; false if it was over before.
  private boolean turn(Wait wait) {
    if (wait.entry.wait != wait) {
      return false;
    }
    wait.entry.wait = null;
    return true;
  }

  private void leaveLine(Resident entry, Aftermath after) {
    Wait wait = entry.wait;
    if (wait != null) {
      entry.wait = null;
      after.then(wait::leave);
    }
  }

  /// Every copy that the books want is there: the others go, but for copies on disk, which cost no memory and save a copy later.
  private void dropSurplus(Resident entry, Aftermath after) {
    if (host < 0 || !wanted(entry, host)) {
      dropHost(entry, after);
    }
    for (int level = 0; level < entry.places.length; level++) {
      if (entry.places[level] != null && !wanted(entry, level) && levels.get(level).medium() != Medium.DISK) {
        dropPlace(entry, level, after);
      }
    }
  }

  private void release(Resident entry, Aftermath after) {
    entry.released = true;
    dropHost(entry, after);
    for (int level = 0; level < entry.places.length; level++) {
      dropPlace(entry, level, after);
    }
  }

  private void dropHost(Resident entry, Aftermath after) {
    Block block = entry.host;
    if (block != null) {
      entry.host = null;
      entry.atHost = false;
      after.close(block);
      stack.counted(entry);
    }
  }

  private void dropPlace(Resident entry, int level, Aftermath after) {
    Place place = entry.places[level];
    if (place != null) {
      entry.places[level] = null;
      if (place.giveUp()) {
        free(level, place, after);
      }
      stack.counted(entry);
    }
  }

  private void free(int level, Place place, Aftermath after) {
    after.close(place.rest);
    Permits places = dock(level).places;
    if (places != null) {
      after.then(() -> places.release(1));
    }
  }

  /// The end of a read of `place`.
  void readEnded(int level, Place place, Aftermath after) {
    if (place.readEnded()) {
      free(level, place, after);
    }
  }

  // Turns that have come

  private void placeGranted(Wait wait) {
    Aftermath after = stack.aftermath();
    synchronized (lock) {
      if (turn(wait)) {
        put(wait.entry, wait.target, after);
      } else {
        after.then(() -> requireNonNull(dock(wait.target).places).release(1));
      }
    }
    after.run();
  }

  private void chargeGranted(Wait wait, SlabPart.Room room) {
    Aftermath after = stack.aftermath();
    synchronized (lock) {
      Block block = wait.entry.host;
      if (turn(wait) && block != null) {
        wait.entry.atHost = true;
        stack.arrived(host, 1);
        Block share = block.share();
        after.then(() -> room.adopt(share));
        after.then(share::close);
        review(wait.entry, after);
      } else {
        after.close(room);
      }
    }
    after.run();
  }

  private void slotGranted(Wait wait, BlockDraft draft) {
    Aftermath after = stack.aftermath();
    synchronized (lock) {
      int from = wait.entry.fastestPlace();
      if (turn(wait) && from >= 0) {
        get(wait.entry, from, draft, wait.need == Need.HOST_SLOT, after);
      } else {
        after.close(draft);
      }
    }
    after.run();
  }

  // Copying to a store

  /// A place is there for `entry`.
  private void put(Resident entry, int level, Aftermath after) {
    entry.moving = true;
    dock(level).toPut.add(entry);
    pumpPuts(level, after);
  }

  private void pumpPuts(int level, Aftermath after) {
    Dock dock = dock(level);
    if (dock.putting) {
      return;
    }
    List<Resident> entries = new ArrayList<>();
    List<Block> blocks = new ArrayList<>();
    while (blocks.size() < batch && !dock.toPut.isEmpty()) {
      Resident entry = dock.toPut.remove();
      if (entry.gone) {
        giveBackPlace(entry, dock, after);
      } else {
        entries.add(entry);
        blocks.add(requireNonNull(entry.host).share());
      }
    }
    if (!blocks.isEmpty()) {
      dock.putting = true;
      after.then(() -> dock.store.put(blocks).subscribe(rests -> putDone(level, entries, blocks, rests),
          error -> putFailed(level, entries, blocks, error)));
    }
  }

  private void giveBackPlace(Resident entry, Dock dock, Aftermath after) {
    entry.moving = false;
    Permits places = dock.places;
    if (places != null) {
      after.then(() -> places.release(1));
    }
    review(entry, after);
  }

  private void putDone(int level, List<Resident> entries, List<Block> shares, List<Rest> rests) {
    Aftermath after = stack.aftermath();
    synchronized (lock) {
      dock(level).putting = false;
      shares.forEach(after::close);
      stack.arrived(level, entries.size());
      for (int i = 0; i < entries.size(); i++) {
        Resident entry = entries.get(i);
        entry.moving = false;
        entry.places[level] = new Place(rests.get(i));
        stack.counted(entry);
        review(entry, after);
      }
      pumpPuts(level, after);
    }
    after.run();
  }

  private void putFailed(int level, List<Resident> entries, List<Block> shares, Throwable error) {
    Aftermath after = stack.aftermath();
    synchronized (lock) {
      dock(level).putting = false;
      shares.forEach(after::close);
      if (!stack.isClosedNow()) {
        for (Resident entry : entries.reversed()) {
          if (error instanceof BlockCorruptException corrupt && !corrupt.key().equals(entry.key)) {
            dock(level).toPut.addFirst(entry); // the batch is tried again without the damaged one
            continue;
          }
          if (error instanceof BlockCorruptException) {
            stack.countCorrupt(after);
          }
          stack.lose(entry, levels.get(level).name() + " did not take it: " + error.getMessage(), after);
          giveBackPlace(entry, dock(level), after);
        }
        pumpPuts(level, after);
      }
    }
    after.run();
  }

  // Copying from a store

  private void get(Resident entry, int from, BlockDraft draft, boolean toHost, Aftermath after) {
    Place place = requireNonNull(entry.places[from]);
    entry.moving = true;
    place.reads++;
    dock(from).toGet.add(new Descent(entry, place, draft, toHost));
    pumpGets(from, after);
  }

  private void pumpGets(int level, Aftermath after) {
    Dock dock = dock(level);
    if (dock.getting || dock.toGet.isEmpty()) {
      return;
    }
    List<Descent> descents = new ArrayList<>();
    while (descents.size() < batch && !dock.toGet.isEmpty()) {
      descents.add(dock.toGet.remove());
    }
    dock.getting = true;
    GranuleRange all = GranuleRange.all(stack.info().space().layout());
    after.then(() -> dock.store.read(descents.stream().map(descent -> descent.place().rest).toList(),
        descents.stream().map(Descent::draft).toList(), all)
        .subscribe(nothing -> {}, error -> getFailed(level, descents, error), () -> getDone(level, descents)));
  }

  private void getDone(int level, List<Descent> descents) {
    List<Block> blocks = descents.stream().map(descent -> descent.draft().seal()).toList();
    Aftermath after = stack.aftermath();
    synchronized (lock) {
      dock(level).getting = false;
      for (int i = 0; i < blocks.size(); i++) {
        Descent descent = descents.get(i);
        Resident entry = descent.entry();
        readEnded(level, descent.place(), after);
        entry.moving = false;
        entry.host = blocks.get(i);
        entry.atHost = descent.toHost();
        stack.counted(entry);
        if (descent.toHost()) {
          stack.arrived(host, 1);
        }
        review(entry, after);
      }
      pumpGets(level, after);
    }
    after.run();
  }

  private void getFailed(int level, List<Descent> descents, Throwable error) {
    Aftermath after = stack.aftermath();
    synchronized (lock) {
      dock(level).getting = false;
      for (Descent descent : descents) {
        after.close(descent.draft());
        descent.entry().moving = false;
        readEnded(level, descent.place(), after);
        if (!stack.isClosedNow()) {
          damaged(level, descent.entry(), error, after);
          review(descent.entry(), after);
        }
      }
      pumpGets(level, after);
    }
    after.run();
  }

  /// A damaged block is lost; the others of its batch are read again.
  private void damaged(int level, Resident entry, Throwable error, Aftermath after) {
    if (!(error instanceof BlockCorruptException corrupt)) {
      stack.lose(entry, levels.get(level).name() + " did not give it: " + error.getMessage(), after);
    } else if (corrupt.key().equals(entry.key)) {
      stack.countCorrupt(after);
      stack.lose(entry, "checksum mismatch", after);
    }
  }
}
