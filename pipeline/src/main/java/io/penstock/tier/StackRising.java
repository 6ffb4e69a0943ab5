package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.block.ArenaClosedException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabPart;
import io.penstock.tier.StackEntry.Resident;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The books of windows on their way up to readers: what they read, where, and what becomes of it when it is here.
final class StackRising {
  final StackBooks books;

  StackRising(StackBooks books) {
    this.books = books;
  }

  /// Settles where the missing blocks are read, into which memory, and answers the memory that is not needed after all.
  ///
  /// @throws TierClosedException if the stack closed meanwhile; the drafts stay the caller's
  List<BlockDraft> start(List<Rising> blocks, List<BlockDraft> drafts) {
    List<BlockDraft> unused = new ArrayList<>(0);
    Aftermath after = books.aftermath();
    int next = 0;
    synchronized (books.lock) {
      books.requireOpen();
      for (Rising rising : blocks) {
        if (!rising.isMissing()) {
          continue;
        }
        Resident resident = rising.promised();
        BlockDraft draft = drafts.get(next++);
        if (resident.host != null) {
          rising.block = resident.host.share();
          unpin(rising, after);
          unused.add(draft);
        } else {
          rising.draft = draft;
          rising.level = books.docks.readableLevel(resident);
          rising.place = requireNonNull(resident.places[rising.level], "a promised block is somewhere");
          rising.place.reads++;
        }
      }
    }
    after.run();
    return unused;
  }

  /// Compares what has come to host memory since the window was taken with its checksums, as is done with what was
  /// there by then.
  ///
  /// @throws io.penstock.block.BlockCorruptException after the block was removed
  void requireSound(List<Rising> blocks) {
    for (Rising rising : blocks) {
      Block block = rising.block;
      if (rising.entry != null && block != null) {
        books.departures.requireSound(block);
      }
    }
  }

  /// Reads `range` of those of `blocks` that have a draft, from each store at once. Once subscribed to, it runs to its
  /// end.
  Mono<Void> read(List<Rising> blocks, GranuleRange range) {
    Map<Integer, List<Rising>> byLevel = new TreeMap<>();
    for (Rising each : blocks) {
      if (each.draft != null) {
        byLevel.computeIfAbsent(each.level, level -> new ArrayList<>()).add(each);
      }
    }
    List<Mono<Void>> reads = new ArrayList<>(byLevel.size());
    byLevel.forEach((level, group) -> reads.add(read(level, group, range)));
    return Mono.whenDelayError(reads);
  }

  private Mono<Void> read(int level, List<Rising> group, GranuleRange range) {
    return Mono
        .defer(() -> books.store(level).read(group.stream().map(each -> requireNonNull(each.place).rest).toList(),
            group.stream().map(each -> requireNonNull(each.draft)).toList(), range))
        .doOnError(error -> notGiven(level, group, error));
  }

  /// Tells `window` of stores that give nothing any more, until [#leave].
  ///
  /// @return why it is not to wait: what it needs is in a store that gives nothing now already; null if all of it can
  ///     be had
  @Nullable StoreUnavailableException enter(RisingWindow window) {
    synchronized (books.lock) {
      books.rising.enter(window);
      for (int level = 0; level < books.levels.size(); level++) {
        if (!books.docks.gives(level) && window.needs(level)) {
          return books.docks.at(level).unavailable();
        }
      }
      return null;
    }
  }

  /// The memory for those of `blocks` that are missing: that of the slowest store that they rest in now.
  SlabPart memoryFor(List<Rising> blocks) {
    synchronized (books.lock) {
      int slowest = blocks.stream().filter(each -> each.pinned && each.promised().host == null)
          .mapToInt(each -> books.docks.readableLevel(each.promised())).max().orElse(-1);
      // All of them may have come meanwhile
      return books.memory.transfer(slowest >= 0 ? slowest : books.host == 0 ? 1 : 0);
    }
  }

  /// `window` waits for no store.
  void leave(RisingWindow window) {
    synchronized (books.lock) {
      books.rising.leave(window);
    }
  }

  /// The bytes of `blocks` are in host memory: they rise to where the books want them, if there is memory to wait in.
  void landed(List<Rising> blocks) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      for (Rising rising : blocks) {
        Resident resident = rising.promised();
        endReading(rising, after);
        if (books.mover.isWanted(resident)) {
          Block block = requireNonNull(rising.block).share();
          boolean direct = books.mover.belongsInHost(resident);
          resident.pins++; // until it was asked for again
          after.then(() -> rise(resident, block, direct));
        }
        unpin(rising, after);
      }
    }
    after.run();
  }

  /// Takes over `block`. The books may have changed since: they are asked again once it is paid for.
  private void rise(Resident resident, Block block, boolean direct) {
    boolean atHost = false;
    boolean charged = false;
    try {
      atHost = direct && charged(books.memory.resident(), block);
      charged = atHost || charged(books.memory.promotion(), block);
    } finally {
      risen(resident, block, charged, atHost);
    }
  }

  private void risen(Resident resident, Block block, boolean charged, boolean atHost) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      resident.pins--;
      if (charged && books.mover.isWanted(resident)) {
        resident.host = block;
        resident.atHost = atHost;
        if (atHost) {
          books.figures.arrived(books.host);
          books.mover.hearMoved(resident.fastestPlace(), books.host, 1, after);
        }
        books.figures.counted(resident);
      } else {
        after.close(block);
      }
      books.mover.review(resident, after);
    }
    after.run();
  }

  private static boolean charged(SlabPart part, Block block) {
    try {
      return part.tryAdopt(block);
    } catch (ArenaClosedException e) { // the stack closed while the bytes came: the reader has them, nobody else wants them
      return false;
    }
  }

  /// Nobody will read `blocks` any further.
  void abandoned(List<Rising> blocks) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      for (Rising rising : blocks) {
        endReading(rising, after);
        unpin(rising, after);
      }
    }
    after.run();
  }

  /// Whether any of `blocks` is to stay in memory.
  boolean isWanted(List<Rising> blocks) {
    synchronized (books.lock) {
      return blocks.stream().anyMatch(rising -> rising.draft != null && books.mover.isWanted(rising.promised()));
    }
  }

  /// The store of `level` failed to give `blocks`.
  void notGiven(int level, List<Rising> blocks, Throwable error) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      books.docks.at(level).failures().notGiven(blocks.stream().map(Rising::promised).toList(), error, after);
    }
    after.run();
  }

  private void endReading(Rising rising, Aftermath after) {
    Place place = rising.place;
    if (place != null) {
      rising.place = null;
      books.docks.at(rising.level).readEnded(place, after);
    }
  }

  private void unpin(Rising rising, Aftermath after) {
    if (rising.pinned) {
      rising.pinned = false;
      Resident resident = rising.promised();
      resident.pins--;
      books.mover.review(resident, after);
    }
  }
}
