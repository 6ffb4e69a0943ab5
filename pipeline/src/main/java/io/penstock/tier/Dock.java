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
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The copies of a [Mover] to and from one store: one batch each way at a time, in the order of asking.
///
/// A copy that fails costs the blocks of its batch, unless they rest lower down as well: they stay there then. Nothing is tried again but
/// the sound companions of a damaged block, so whatever a store does, memory comes back and lines go on.
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
  private final AtomicInteger putStarts = new AtomicInteger();
  private final AtomicInteger getStarts = new AtomicInteger();

  /// All below are guarded by the stack's lock.
  private final ArrayDeque<Resident> toPut = new ArrayDeque<>();
  private final ArrayDeque<Descent> toGet = new ArrayDeque<>();
  private boolean putting;
  private boolean getting;

  Dock(StackBooks books, Mover mover, int level, Level.Stored stored) {
    this.books = books;
    this.mover = mover;
    this.level = level;
    this.store = stored.store();
    this.batch = books.options.batchBlocks();
    this.places = stored.medium() == Medium.DISK ? null : new Permits(stored.name() + " places",
        Math.min(store.capacityBlocks(), Integer.MAX_VALUE), (int) books.memory.arena.capacitySlots());
  }

  /// Copies `blocks`, which stay the caller's; whatever the store does, there is a rest for each, or an error.
  static Mono<List<Rest>> put(BlockStore store, List<Block> blocks) {
    return Mono.defer(() -> store.put(blocks)).switchIfEmpty(Mono.error(() -> new IllegalStateException(
        "store " + store.name() + " must answer rests (was empty)"))).map(rests -> {
          if (rests.size() != blocks.size()) {
            rests.forEach(Rest::close);
            throw new IllegalStateException("store %s must answer a rest for each of %d blocks (was %d)".formatted(store.name(),
                blocks.size(), rests.size()));
          }
          return rests;
        });
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

  // Copying to the store

  /// Puts `entry`, for whom there is a place. Under the lock.
  void put(Resident entry, Aftermath after) {
    entry.moving = true;
    toPut.add(entry);
    after.then(this::startPuts);
  }

  private void startPuts() {
    start(putStarts, this::startPut);
  }

  /// Starts a copy, and another after each that ended at once, which so does not deepen the stack.
  private static void start(AtomicInteger starts, Runnable one) {
    if (starts.getAndIncrement() == 0) {
      do {
        one.run();
      } while (starts.decrementAndGet() != 0);
    }
  }

  private void startPut() {
    List<Resident> entries = new ArrayList<>();
    List<Block> shares = new ArrayList<>();
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      while (!putting && shares.size() < batch && !toPut.isEmpty()) {
        Resident entry = toPut.remove();
        if (entry.gone) {
          putEnded(entry, after);
        } else {
          shares.add(requireNonNull(entry.host).share());
          entries.add(entry);
        }
      }
      putting |= !shares.isEmpty();
    }
    after.run();
    if (!shares.isEmpty()) {
      put(store, shares).subscribe(rests -> putDone(entries, shares, rests), error -> putFailed(entries, shares, error));
    }
  }

  /// `entry` did not get to the place that was kept for it.
  private void putEnded(Resident entry, Aftermath after) {
    entry.moving = false;
    after.then(this::releasePlace);
    mover.review(entry, after);
  }

  private void putDone(List<Resident> entries, List<Block> shares, List<Rest> rests) {
    Aftermath after = books.aftermath();
    int[] from = new int[books.levels.size()];
    synchronized (books.lock) {
      putting = false;
      shares.forEach(after::close);
      for (int i = 0; i < entries.size(); i++) {
        Resident entry = entries.get(i);
        int before = entry.atHost ? books.host : entry.fastestPlace();
        if (before >= 0) { // else it was written just now
          from[before]++;
        }
        entry.moving = false;
        entry.places[level] = new Place(rests.get(i));
        books.figures.arrived(level);
        books.figures.counted(entry);
        mover.review(entry, after);
      }
      after.then(this::startPuts);
    }
    for (int i = 0; i < from.length; i++) {
      mover.hearMoved(i, level, from[i], after);
    }
    after.run();
  }

  private void putFailed(List<Resident> entries, List<Block> shares, Throwable error) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      putting = false;
      shares.forEach(after::close);
      Resident damaged = damaged(entries, error);
      for (Resident entry : entries.reversed()) {
        if (damaged != null && damaged != entry && !books.isClosedNow()) {
          toPut.addFirst(entry); // the batch is tried again without the damaged one
          continue;
        }
        if (damaged != null) {
          lose(entry, after);
        } else if (entry.fastestPlace() > level) {
          mover.dropHost(entry, after); // it stays lower down until somebody reads it
        } else {
          books.lose(entry, store.name() + " did not take it: " + error.getMessage(), after);
        }
        putEnded(entry, after);
      }
      after.then(this::startPuts);
    }
    after.run();
  }

  /// Which of `entries` has bytes that differ from their checksum, null if none is named.
  private static @Nullable Resident damaged(List<Resident> entries, Throwable error) {
    return error instanceof BlockCorruptException corrupt
        ? entries.stream().filter(entry -> entry.key.equals(corrupt.key())).findFirst().orElse(null) : null;
  }

  private void lose(Resident damaged, Aftermath after) {
    if (!books.isClosedNow()) {
      books.countCorrupt(after);
    }
    books.lose(damaged, "checksum mismatch", after);
  }

  // Copying from the store

  /// Reads `entry`, which rests here, into `draft`. Under the lock.
  void get(Resident entry, BlockDraft draft, boolean toHost, Aftermath after) {
    Place place = requireNonNull(entry.places[level]);
    entry.moving = true;
    place.reads++;
    toGet.add(new Descent(entry, place, draft, toHost));
    after.then(this::startGets);
  }

  private void startGets() {
    start(getStarts, this::startGet);
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
        entry.host = blocks.get(i);
        entry.atHost = descent.toHost();
        books.figures.counted(entry);
        if (descent.toHost()) {
          books.figures.arrived(books.host);
          arrived++;
        }
        mover.review(entry, after);
      }
      after.then(this::startGets);
    }
    mover.hearMoved(level, books.host, arrived, after);
    after.run();
  }

  private void getFailed(List<Descent> descents, Throwable error) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      getting = false;
      Resident damaged = damaged(descents.stream().map(Descent::entry).toList(), error);
      for (Descent descent : descents) {
        Resident entry = descent.entry();
        after.close(descent.draft());
        entry.moving = false;
        readEnded(descent.place(), after);
        if (damaged == entry) {
          lose(entry, after);
        } else if (damaged == null && entry.hasOtherThan(level)) {
          mover.dropPlace(entry, level, after);
        } else if (damaged == null) {
          books.lose(entry, store.name() + " did not give it: " + error.getMessage(), after);
        }
        mover.review(entry, after);
      }
      after.then(this::startGets);
    }
    after.run();
  }

  /// Starts nothing more: what waits here goes back. Under the lock, when the books have closed.
  void close(Aftermath after) {
    for (Resident entry : toPut) {
      entry.moving = false;
      mover.review(entry, after);
    }
    toPut.clear();
    for (Descent descent : toGet) {
      after.close(descent.draft());
      descent.entry().moving = false;
      readEnded(descent.place(), after);
      mover.review(descent.entry(), after);
    }
    toGet.clear();
  }
}
