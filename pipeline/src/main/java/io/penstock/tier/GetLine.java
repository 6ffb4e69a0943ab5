package io.penstock.tier;

import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.tier.StackEntry.Resident;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/// What a [TierStack] reads from one store to move it: a batch at a time, in the order of asking. Blocks that sink
/// there from host memory stand in the [PutLine] of the same [Dock].
///
/// A batch for which the store is too busy goes back to the front until the store has room. A block that was written
/// anew while it was read keeps the new bytes.
final class GetLine {
  /// A block on its way from the store to host memory, to stay there or to pass through.
  private record Descent(Resident entry, Place place, BlockDraft draft, boolean toHost) {}

  private final StackBooks books;
  private final Mover mover;
  private final Dock dock;
  private final BlockStore store;
  private final Starts starts = new Starts(this::start);
  /// Guarded by the stack's lock, as all below.
  private final ArrayDeque<Descent> line = new ArrayDeque<>();
  private boolean getting;
  /// Whether the store has to say first that it has room.
  private boolean full;

  GetLine(StackBooks books, Mover mover, Dock dock, BlockStore store) {
    this.books = books;
    this.mover = mover;
    this.dock = dock;
    this.store = store;
  }

  /// Reads `entry`, which rests at `place`, into `draft`. Under the lock.
  void add(Resident entry, Place place, BlockDraft draft, boolean toHost, Aftermath after) {
    entry.moving = true;
    place.reads++;
    line.add(new Descent(entry, place, draft, toHost));
    after.then(starts::more);
  }

  /// Starts what waits, if it can be. Not under the lock.
  void more() {
    starts.more();
  }

  private void start() {
    List<Descent> descents = new ArrayList<>();
    synchronized (books.lock) {
      while (!getting && !full && descents.size() < books.options.batchBlocks() && !line.isEmpty()) {
        descents.add(line.remove());
      }
      getting |= !descents.isEmpty();
    }
    if (!descents.isEmpty()) {
      GranuleRange all = GranuleRange.all(books.info.space().layout());
      Mono.defer(
          () -> store.read(descents.stream().map(descent -> descent.place().rest).toList(), drafts(descents), all))
          .subscribe(nothing -> {}, error -> failed(descents, error), () -> done(descents));
    }
  }

  private static List<BlockDraft> drafts(List<Descent> descents) {
    return descents.stream().map(Descent::draft).toList();
  }

  private void done(List<Descent> descents) {
    List<Block> blocks;
    try {
      blocks = StackCommit.sealed(drafts(descents));
    } catch (RuntimeException e) { // the store left something out
      failed(descents, e);
      return;
    }
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      getting = false;
      int arrived = 0;
      for (int i = 0; i < blocks.size(); i++) {
        arrived += arrived(descents.get(i), blocks.get(i), after) ? 1 : 0;
      }
      mover.hearMoved(dock.level(), books.host, arrived, after);
      after.then(starts::more);
    }
    after.run();
  }

  /// Whether it stays in host memory.
  private boolean arrived(Descent descent, Block block, Aftermath after) {
    Resident entry = descent.entry();
    dock.readEnded(descent.place(), after);
    entry.moving = false;
    boolean stays = descent.toHost() && entry.host == null;
    if (entry.host == null) {
      entry.host = block;
      entry.atHost = stays;
      books.figures.counted(entry);
    } else {
      after.close(block);
    }
    if (stays) {
      books.figures.arrived(books.host);
    }
    mover.review(entry, after);
    return stays;
  }

  private void failed(List<Descent> descents, Throwable error) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      getting = false;
      if (error instanceof StoreBusyException busy && !books.isClosedNow()) {
        descents.reversed().forEach(line::addFirst);
        full = true;
        after.then(() -> busy.room().subscribe(nothing -> {}, e -> roomAgain(), this::roomAgain));
      } else {
        failed(descents, error, after);
      }
    }
    after.run();
  }

  private void failed(List<Descent> descents, Throwable error, Aftermath after) {
    for (Descent descent : descents) {
      after.close(descent.draft());
      descent.entry().moving = false;
      dock.readEnded(descent.place(), after);
    }
    List<Resident> entries = descents.stream().map(Descent::entry).toList();
    dock.failures().notGiven(entries, error, after);
    entries.forEach(entry -> mover.review(entry, after));
    after.then(starts::more);
  }

  private void roomAgain() {
    synchronized (books.lock) {
      full = false;
    }
    starts.more();
  }

  /// Gives back what was not begun, since the store gives nothing, or the books have closed. Under the lock.
  void clear(Aftermath after) {
    List<Descent> waiting = List.copyOf(line);
    line.clear();
    for (Descent descent : waiting) {
      after.close(descent.draft());
      descent.entry().moving = false;
      dock.readEnded(descent.place(), after);
      mover.review(descent.entry(), after);
    }
  }
}
