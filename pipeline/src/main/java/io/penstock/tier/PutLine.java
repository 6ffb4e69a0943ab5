package io.penstock.tier;

import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// What a [TierStack] puts to one store: one batch at a time, in the order of asking, whoever asks.
///
/// A store so needs room for one put of each stack and never refuses a second one as busy: whoever comes meanwhile
/// waits. What waits is gathered into batches, but nobody's blocks are divided. The line is as long as host memory has
/// blocks: whoever waits holds some.
///
/// Where a block turns out to be damaged, its turn fails and the others are tried again. A batch for which the store is
/// too busy goes back to the front until the store has room. Any other error ends all turns of the batch.
final class PutLine {
  /// Somebody with blocks to put. Ends in exactly one call, [#done] or [#failed]. All of it under the stack's lock.
  interface Turn {
    /// What is put, open until the end; none if nobody needs it any more.
    List<Block> blocks();

    /// @param rests as many as there were blocks, now the turn's
    void done(List<StoredBlock> rests, Aftermath after);

    /// @param error of the store, or [TierClosedException]
    void failed(Throwable error, Aftermath after);
  }

  /// A turn whose blocks are part of the batch under way.
  private record Boarded(Turn turn, int blocks) {}

  private final StackBooks books;
  private final BlockStore store;
  private final Starts starts = new Starts(this::start);
  /// Guarded by the stack's lock, as all below.
  private final ArrayDeque<Turn> turns = new ArrayDeque<>();
  private boolean putting;
  /// Whether the store has to say first that it has room.
  private boolean full;
  /// Whose blocks are part of the batch under way; none if they were told already.
  private List<Boarded> aboard = List.of();
  /// Why nobody gets in line now; null if the store takes blocks.
  private @Nullable StoreUnavailableException refusal;

  PutLine(StackBooks books, BlockStore store) {
    this.books = books;
    this.store = store;
  }

  /// Starts what waits, if it can be. Not under the lock.
  void more() {
    starts.more();
  }

  /// Gets in line. Under the lock.
  void add(Turn turn, Aftermath after) {
    if (books.isClosedNow()) {
      turn.failed(books.closedException(), after);
    } else if (refusal != null) {
      turn.failed(refusal, after);
    } else {
      turns.add(turn);
      after.then(starts::more);
    }
  }

  /// Lets whoever was in line before be the next. Under the lock.
  private void back(Turn turn, Aftermath after) {
    if (refusal != null) {
      turn.failed(refusal, after);
    } else {
      turns.addFirst(turn);
    }
  }

  /// The store takes blocks again. Under the lock.
  void admit() {
    refusal = null;
  }

  /// Fails whoever waits and whoever comes, since the store takes nothing now. Under the lock.
  ///
  /// @param whole also those whose blocks are part of the batch under way: the store keeps their memory until it
  ///     answers, and nobody else waits
  void refuse(StoreUnavailableException why, boolean whole, Aftermath after) {
    List<Turn> waiting = new ArrayList<>(turns);
    turns.clear();
    refusal = why;
    if (whole) {
      aboard.forEach(each -> each.turn().failed(why, after));
      aboard = List.of();
    }
    waiting.forEach(turn -> turn.failed(why, after));
  }

  private void start() {
    List<Boarded> boarded = new ArrayList<>();
    List<Block> shares = new ArrayList<>();
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      if (!putting && !full) {
        board(boarded, shares, after);
        putting = !shares.isEmpty();
        aboard = boarded;
      }
    }
    after.run();
    if (!shares.isEmpty()) {
      put(shares).subscribe(rests -> done(shares, rests), error -> failed(shares, error));
    }
  }

  private void board(List<Boarded> boarded, List<Block> shares, Aftermath after) {
    for (Turn turn = turns.peek(); turn != null; turn = turns.peek()) {
      List<Block> blocks = turn.blocks();
      if (!shares.isEmpty() && shares.size() + blocks.size() > books.options.batchBlocks()) {
        return;
      }
      turns.remove();
      if (blocks.isEmpty()) {
        turn.done(List.of(), after);
      } else {
        blocks.forEach(block -> shares.add(block.share()));
        boarded.add(new Boarded(turn, blocks.size()));
      }
    }
  }

  /// Whatever the store does, there is a rest for each block, or an error.
  private Mono<List<StoredBlock>> put(List<Block> blocks) {
    return Mono.defer(() -> store.put(blocks)).switchIfEmpty(Mono.error(() -> new IllegalStateException(
        "store " + store.name() + " must answer rests (was empty)"))).map(rests -> {
          if (rests.size() != blocks.size()) {
            rests.forEach(StoredBlock::close);
            throw new IllegalStateException(
                "store %s must answer a rest for each of %d blocks (was %d)".formatted(store.name(),
                    blocks.size(), rests.size()));
          }
          return rests;
        });
  }

  private void done(List<Block> shares, List<StoredBlock> rests) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      List<Boarded> boarded = ended(shares, after);
      int next = 0;
      if (boarded.isEmpty()) { // nobody waits for them any more
        rests.forEach(after::close);
      }
      for (Boarded each : boarded) {
        each.turn().done(List.copyOf(rests.subList(next, next + each.blocks())), after);
        next += each.blocks();
      }
    }
    after.run();
  }

  private void failed(List<Block> shares, Throwable error) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      if (error instanceof StoreBusyException busy && !books.isClosedNow()) {
        full = true;
        ended(shares, after).reversed().forEach(each -> back(each.turn(), after));
        after.then(() -> busy.room().subscribe(nothing -> {}, e -> roomAgain(), this::roomAgain));
      } else {
        failed(shares, error, after);
      }
    }
    after.run();
  }

  private void roomAgain() {
    synchronized (books.lock) {
      full = false;
    }
    starts.more();
  }

  private void failed(List<Block> shares, Throwable error, Aftermath after) {
    List<Boarded> boarded = ended(shares, after);
    Boarded damaged = damaged(boarded, shares, error);
    for (Boarded each : boarded.reversed()) {
      if (damaged == null || each.equals(damaged)) {
        each.turn().failed(error, after);
      } else if (books.isClosedNow()) {
        each.turn().failed(books.closedException(), after);
      } else {
        back(each.turn(), after);
      }
    }
  }

  /// The store is free for the next batch.
  ///
  /// @return who still waits to hear how this one ended
  private List<Boarded> ended(List<Block> shares, Aftermath after) {
    List<Boarded> boarded = aboard;
    aboard = List.of();
    putting = false;
    shares.forEach(after::close);
    after.then(starts::more);
    return boarded;
  }

  /// Whose block it is whose bytes differ from their checksum, null if none is named.
  private static @Nullable Boarded damaged(List<Boarded> boarded, List<Block> shares, Throwable error) {
    if (error instanceof BlockCorruptException corrupt) {
      int next = 0;
      for (Boarded each : boarded) {
        for (Block share : shares.subList(next, next += each.blocks())) {
          if (share.key().equals(corrupt.key())) {
            return each;
          }
        }
      }
    }
    return null;
  }

  /// Starts nothing more. Under the lock, when the books have closed.
  void close(Aftermath after) {
    List<Turn> waiting = List.copyOf(turns);
    turns.clear();
    waiting.forEach(turn -> turn.failed(books.closedException(), after));
  }
}
