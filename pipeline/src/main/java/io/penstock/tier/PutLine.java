package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// What a [TierStack] puts to one store: one batch at a time, in the order of asking, whoever asks.
///
/// A store so needs room for one put of each stack and never refuses a second one as busy: whoever comes meanwhile waits. What waits is
/// gathered into batches, but nobody's blocks are divided. The line is as long as host memory has blocks: whoever waits holds some.
///
/// Where a block turns out to be damaged, its turn fails and the others are tried again; any other error ends all turns of the batch.
final class PutLine {
  /// Somebody with blocks to put. Ends in exactly one call, [#done] or [#failed]. All of it under the stack's lock.
  interface Turn {
    /// What is put, open until the end; none if nobody needs it any more.
    List<Block> blocks();

    /// @param rests as many as there were blocks, now the turn's
    void done(List<Rest> rests, Aftermath after);

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

  PutLine(StackBooks books, BlockStore store) {
    this.books = books;
    this.store = store;
  }

  /// Gets in line. Under the lock.
  void add(Turn turn, Aftermath after) {
    if (books.isClosedNow()) {
      turn.failed(books.closedException(), after);
      return;
    }
    turns.add(turn);
    after.then(starts::more);
  }

  private void start() {
    List<Boarded> boarded = new ArrayList<>();
    List<Block> shares = new ArrayList<>();
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      if (!putting) {
        board(boarded, shares, after);
        putting = !shares.isEmpty();
      }
    }
    after.run();
    if (!shares.isEmpty()) {
      put(shares).subscribe(rests -> done(boarded, shares, rests), error -> failed(boarded, shares, error));
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
  private Mono<List<Rest>> put(List<Block> blocks) {
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

  private void done(List<Boarded> boarded, List<Block> shares, List<Rest> rests) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      ended(shares, after);
      int next = 0;
      for (Boarded each : boarded) {
        each.turn().done(List.copyOf(rests.subList(next, next + each.blocks())), after);
        next += each.blocks();
      }
    }
    after.run();
  }

  private void failed(List<Boarded> boarded, List<Block> shares, Throwable error) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      ended(shares, after);
      Boarded damaged = damaged(boarded, shares, error);
      for (Boarded each : boarded.reversed()) {
        if (damaged == null || each.equals(damaged)) {
          each.turn().failed(error, after);
        } else if (books.isClosedNow()) {
          each.turn().failed(books.closedException(), after);
        } else {
          turns.addFirst(each.turn());
        }
      }
    }
    after.run();
  }

  /// The store is free for the next batch.
  private void ended(List<Block> shares, Aftermath after) {
    putting = false;
    shares.forEach(after::close);
    after.then(starts::more);
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
