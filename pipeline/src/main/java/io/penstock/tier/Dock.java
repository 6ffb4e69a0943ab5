package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.block.Permits;
import io.penstock.tier.StackEntry.Resident;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The copies of a [Mover] to and from one store: one batch each way at a time, in the order of asking. Besides, the store gets the reads
/// of windows that rise ([RisingWindow]), one a window and so never more than there are slots to rise into.
///
/// A copy that fails costs the blocks of its batch, unless they rest lower down as well: they stay there then. What is tried again are the
/// sound companions of a damaged block, and a batch for which the store is too busy: when other work of this dock ends, and only while some
/// is under way, for else nothing would start it. So whatever a store does, memory comes back and lines go on.
final class Dock {
  /// A block on its way from the store to host memory, to stay there or to pass through.
  private record Descent(Resident entry, Place place, BlockDraft draft, boolean toHost) {}

  private final StackBooks books;
  private final Mover mover;
  private final int level;
  private final BlockStore store;
  /// Places of the store that may be used; null if their number is not fixed.
  private final @Nullable Permits places;
  private final int batch;
  private final PutLine puts;
  private final Starts getStarts = new Starts(this::startGet);

  /// All below are guarded by the stack's lock.
  private StoreState state = StoreState.ACTIVE;
  private final ArrayDeque<Descent> toGet = new ArrayDeque<>();
  private boolean getting;
  /// Reads of windows that are under way.
  private int rising;

  Dock(StackBooks books, Mover mover, int level, Level.Stored stored) {
    this.books = books;
    this.mover = mover;
    this.level = level;
    this.store = stored.store();
    this.puts = new PutLine(books, store, () -> getting || rising > 0, this::more);
    this.batch = books.options.batchBlocks();
    this.places = stored.medium() == Medium.DISK ? null : new Permits(stored.name() + " places",
        Math.min(store.capacityBlocks(), Integer.MAX_VALUE), (int) books.memory.arena.capacitySlots());
  }

  // How the store is

  /// What the stack takes the store to be able to do.
  StoreState state() {
    return state;
  }

  /// Hears of the store from now on. Not under the lock.
  void watch() {
    store.watch(this::changed);
    changed();
  }

  private void changed() {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      StoreHealth health = store.health();
      if (health.state() != state) {
        changed(health, after);
      }
    }
    after.run();
  }

  private void changed(StoreHealth health, Aftermath after) {
    boolean gave = state.gives();
    state = health.state();
    if (state.takes()) {
      puts.admit();
    } else {
      puts.refuse(StoreUnavailableException.of(store.name(), health), !state.gives(), after);
    }
    if (gave && !state.gives()) {
      toGet.forEach(descent -> giveBack(descent, after));
      toGet.clear();
      books.interrupt(level, StoreUnavailableException.of(store.name(), health), after);
    }
    if (!books.isClosedNow()) { // else nobody is left but those whose copies are under way
      welcome(after);
    }
  }

  private void welcome(Aftermath after) {
    if (state.gives()) {
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

  /// Work of the store ended: there may be room for what waits. Not under the lock.
  private void more() {
    puts.more();
    getStarts.more();
  }

  // Copying to the store

  /// Puts `entry`, for whom there is a place. Under the lock.
  void put(Resident entry, Aftermath after) {
    entry.moving = true;
    puts.add(counted(new Ascent(entry)), after);
  }

  /// Puts blocks that are not visible yet. Under the lock.
  void put(PutLine.Turn written, Aftermath after) {
    puts.add(counted(written), after);
  }

  private PutLine.Turn counted(PutLine.Turn turn) {
    return store.medium() == Medium.DISK ? books.queue.counted(turn) : turn;
  }

  /// A block on its way from host memory to the store.
  private final class Ascent implements PutLine.Turn {
    private final Resident entry;

    Ascent(Resident entry) {
      this.entry = entry;
    }

    @Override
    public List<Block> blocks() {
      return entry.gone ? List.of() : List.of(requireNonNull(entry.host));
    }

    @Override
    public void done(List<Rest> rests, Aftermath after) {
      if (rests.isEmpty()) {
        ended(after);
        return;
      }
      mover.hearMoved(entry.atHost ? books.host : entry.fastestPlace(), level, 1, after);
      entry.moving = false;
      entry.places[level] = new Place(rests.getFirst());
      books.figures.arrived(level);
      books.figures.counted(entry);
      mover.review(entry, after);
    }

    @Override
    public void failed(Throwable error, Aftermath after) {
      if (names(error, entry)) {
        lose(entry, error, after);
      } else if (entry.fastestPlace() > level) {
        mover.dropHost(entry, after); // it stays lower down until somebody reads it
      } else if (!(error instanceof StoreUnavailableException)) {
        books.lose(entry, store.name() + " did not take it: " + error.getMessage(), after);
      } else if (mover.isHome(entry)) {
        mover.defer(entry); // what was to repeat it
      } else {
        books.evict(entry, after);
      }
      ended(after);
    }

    /// It did not get to the place that was kept for it.
    private void ended(Aftermath after) {
      entry.moving = false;
      after.then(Dock.this::releasePlace);
      mover.review(entry, after);
    }
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
      books.countCorrupt(after);
    }
    books.lose(named, damaged ? "checksum mismatch" : store.name() + " did not give it", after);
  }

  // Copying from the store

  /// Reads `entry`, which rests here, into `draft`. Under the lock.
  void get(Resident entry, BlockDraft draft, boolean toHost, Aftermath after) {
    Place place = requireNonNull(entry.places[level]);
    entry.moving = true;
    place.reads++;
    toGet.add(new Descent(entry, place, draft, toHost));
    after.then(getStarts::more);
  }

  private void startGet() {
    List<Descent> descents = new ArrayList<>();
    synchronized (books.lock) {
      while (!getting && descents.size() < batch && !toGet.isEmpty()) {
        descents.add(toGet.remove());
      }
      getting |= !descents.isEmpty();
    }
    if (!descents.isEmpty()) {
      GranuleRange all = GranuleRange.all(books.info.space().layout());
      Mono.defer(() -> store.read(descents.stream().map(descent -> descent.place().rest).toList(), drafts(descents), all))
          .subscribe(nothing -> {}, error -> getFailed(descents, error), () -> getDone(descents));
    }
  }

  private static List<BlockDraft> drafts(List<Descent> descents) {
    return descents.stream().map(Descent::draft).toList();
  }

  private void getDone(List<Descent> descents) {
    List<Block> blocks;
    try {
      blocks = StackCommit.sealed(drafts(descents));
    } catch (RuntimeException e) { // the store left something out
      getFailed(descents, e);
      return;
    }
    Aftermath after = books.aftermath();
    int arrived = 0;
    synchronized (books.lock) {
      getting = false;
      for (int i = 0; i < blocks.size(); i++) {
        Descent descent = descents.get(i);
        Resident entry = descent.entry();
        readEnded(descent.place(), after);
        entry.moving = false;
        if (entry.host != null) { // written anew meanwhile
          after.close(blocks.get(i));
        } else {
          entry.host = blocks.get(i);
          entry.atHost = descent.toHost();
          books.figures.counted(entry);
          arrived += descent.toHost() ? 1 : 0;
        }
        mover.review(entry, after);
      }
      for (int i = 0; i < arrived; i++) {
        books.figures.arrived(books.host);
      }
      after.then(this::more);
    }
    mover.hearMoved(level, books.host, arrived, after);
    after.run();
  }

  private void getFailed(List<Descent> descents, Throwable error) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      getting = false;
      boolean busy = error instanceof StoreBusyException && !books.isClosedNow();
      if (busy && (puts.isPutting() || rising > 0)) {
        descents.reversed().forEach(toGet::addFirst);
      } else {
        getFailed(descents, error, busy, after);
      }
    }
    after.run();
  }

  private void getFailed(List<Descent> descents, Throwable error, boolean busy, Aftermath after) {
    for (Descent descent : descents) {
      after.close(descent.draft());
      descent.entry().moving = false;
      readEnded(descent.place(), after);
    }
    List<Resident> entries = descents.stream().map(Descent::entry).toList();
    if (busy) { // nothing would wake them, and others may wait for their places
      drop(entries, error, after);
    } else {
      notGiven(entries, error, after);
    }
    entries.forEach(entry -> mover.review(entry, after));
    after.then(this::more);
  }

  /// Reads for a window. Not under the lock.
  Mono<Void> read(List<Rest> rests, List<BlockDraft> drafts, GranuleRange range) {
    return Mono.defer(() -> {
      synchronized (books.lock) {
        rising++;
      }
      return store.read(rests, drafts, range);
    }).doFinally(end -> risingReadEnded());
  }

  private void risingReadEnded() {
    boolean waiting;
    synchronized (books.lock) {
      rising--;
      waiting = puts.isWaiting() || !toGet.isEmpty();
    }
    if (waiting) {
      more();
    }
  }

  /// The store failed to give `entries`: none suffers if it was too busy, or gives nothing now; the damaged one is lost, if one is named; else all of them are
  /// looked for elsewhere from now on, or are lost, so that asking again is a miss and no error. Under the lock.
  void notGiven(List<Resident> entries, Throwable error, Aftermath after) {
    boolean named = false;
    for (Resident entry : entries) {
      if (names(error, entry)) {
        lose(entry, error, after);
        named = true;
      }
    }
    if (!named && !books.isClosedNow() && !(error instanceof StoreBusyException) && !(error instanceof StoreUnavailableException)) {
      drop(entries, error, after);
    }
  }

  private void drop(List<Resident> entries, Throwable error, Aftermath after) {
    for (Resident entry : entries) {
      if (entry.hasOtherThan(level)) {
        mover.dropPlace(entry, level, after);
      } else {
        books.lose(entry, store.name() + " did not give it: " + error.getMessage(), after);
      }
    }
  }

  /// Starts nothing more: what waits here goes back. Under the lock, when the books have closed.
  void close(Aftermath after) {
    puts.close(after);
    toGet.forEach(descent -> giveBack(descent, after));
    toGet.clear();
  }

  /// It was not begun.
  private void giveBack(Descent descent, Aftermath after) {
    after.close(descent.draft());
    descent.entry().moving = false;
    readEnded(descent.place(), after);
    mover.review(descent.entry(), after);
  }
}
