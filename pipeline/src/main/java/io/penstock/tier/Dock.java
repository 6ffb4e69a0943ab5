package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoreHealth;
import io.penstock.tier.spi.StoreState;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.block.BlockDraft;
import io.penstock.block.Permits;
import io.penstock.tier.StackEntry.Resident;
import org.jspecify.annotations.Nullable;

/// A store as the [Mover] sees it: whether it takes and gives, its places, and who stands in line for it, to be put
/// ([PutLine]) or to be read ([GetLine]): one batch each way at a time. Besides, the store gets the reads of windows
/// that rise ([RisingWindow]), one a window and so never more than there are slots to rise into.
///
/// A copy that fails costs what [StoreFailures] says; one for which the store is too busy waits until it has room. So
/// whatever a store does, memory comes back and lines go on.
final class Dock {
  private final StackBooks books;
  private final Mover mover;
  private final int level;
  private final BlockStore store;
  private final StoreFailures failures;
  /// Places of the store that may be used; null if their number is not fixed.
  private final @Nullable Permits places;
  private final PutLine puts;
  private final GetLine gets;
  /// Guarded by the stack's lock.
  private StoreHealth health = StoreHealth.GOOD;

  Dock(StackBooks books, Mover mover, int level, Level.Stored stored) {
    this.books = books;
    this.mover = mover;
    this.level = level;
    this.store = stored.store();
    this.failures = new StoreFailures(books, mover, level, store.name());
    this.puts = new PutLine(books, store);
    this.gets = new GetLine(books, mover, this, store);
    this.places = stored.medium() == Medium.DISK
        ? null
        : new Permits(stored.name() + " places",
            Math.min(store.capacityBlocks(), Integer.MAX_VALUE), (int) books.memory.arena.capacitySlots());
  }

  int level() {
    return level;
  }

  /// What it costs when the store fails.
  StoreFailures failures() {
    return failures;
  }

  // How the store is

  /// What the stack takes the store to be able to do.
  StoreState state() {
    return health.state();
  }

  /// Why it does not take blocks, or does not give them.
  StoreUnavailableException unavailable() {
    return StoreUnavailableException.of(store.name(), health);
  }

  /// Hears of the store from now on. Not under the lock.
  void watch() {
    store.watch(this::changed);
    changed();
  }

  private void changed() {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      StoreHealth now = store.health();
      if (now.state() != state()) {
        changed(now, after);
      }
    }
    after.run();
  }

  private void changed(StoreHealth now, Aftermath after) {
    boolean gave = state().gives();
    health = now;
    if (state().takes()) {
      puts.admit();
    } else {
      puts.refuse(unavailable(), !state().gives(), after);
    }
    if (gave && !state().gives()) {
      gets.clear(after);
      books.rising.interrupt(level, unavailable(), after);
    }
    if (!books.isClosedNow()) { // else nobody is left but those whose copies are under way
      welcome(after);
    }
  }

  private void welcome(Aftermath after) {
    if (state().gives()) {
      books.recover(level, after); // what it could not find before
    }
    mover.stateChanged(level, after);
    after.then(this::more);
  }

  // Places

  /// Takes a place if one is free and nobody waits.
  boolean tryPlace() {
    return places == null || places.tryAcquire(1);
  }

  Permits.Ticket place(Runnable granted) {
    return requireNonNull(places).acquire(1, granted);
  }

  /// Frees a place that nobody used. Not under the lock.
  void releasePlace() {
    if (places != null) {
      places.release(1);
    }
  }

  /// Gives up `place`; it is free again when its last reader is done.
  void giveUp(Place place, Aftermath after) {
    if (place.giveUp()) {
      free(place, after);
    }
  }

  void readEnded(Place place, Aftermath after) {
    if (place.readEnded()) {
      free(place, after);
    }
  }

  private void free(Place place, Aftermath after) {
    after.close(place.rest);
    after.then(this::releasePlace);
  }

  /// The store may take or give what waits. Not under the lock.
  private void more() {
    puts.more();
    gets.more();
  }

  // Copies

  /// Puts `entry`, for whom there is a place. Under the lock.
  void put(Resident entry, Aftermath after) {
    entry.moving = true;
    puts.add(counted(new Ascent(books, mover, this, entry)), after);
  }

  /// Puts blocks that are not visible yet. Under the lock.
  void put(PutLine.Turn written, Aftermath after) {
    puts.add(counted(written), after);
  }

  private PutLine.Turn counted(PutLine.Turn turn) {
    return store.medium() == Medium.DISK ? books.queue.counted(turn) : turn;
  }

  /// Reads `entry`, which rests here, into `draft`. Under the lock.
  void get(Resident entry, BlockDraft draft, boolean toHost, Aftermath after) {
    gets.add(entry, requireNonNull(entry.places[level]), draft, toHost, after);
  }

  /// Starts nothing more: what waits here goes back. Under the lock, when the books have closed.
  void close(Aftermath after) {
    puts.close(after);
    gets.clear(after);
  }
}
