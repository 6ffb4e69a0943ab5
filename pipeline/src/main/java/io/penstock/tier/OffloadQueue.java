package io.penstock.tier;

import io.penstock.tier.spi.StoredBlock;
import io.penstock.block.Block;
import io.penstock.block.BudgetExhaustedException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.LongSupplier;

/// How many blocks of a [TierStack] wait for a disk or are being put to it, and the line of reservations that wait
/// until they are fewer.
///
/// A reservation is let in when the queue has room for as many blocks as it brings, or is empty: what it brings, or
/// what leaves memory for it, may be put to the disk a little later, or never, and nobody would wake those who waited
/// for that. So the queue can be longer than its bound by what memory has slots for. What a lease admits, and blocks
/// that rise, are not held back: the memory that they need bounds them. Guarded by the stack's lock.
final class OffloadQueue {
  private static final long NANOS_A_MILLI = 1_000_000;

  private final StackBooks books;
  private final LongSupplier nanos;
  private final long most;
  private final ArrayDeque<Waiting> line = new ArrayDeque<>();
  private final Starts starts = new Starts(this::letIn);
  private long blocks;
  private long peak;
  private long waitedNanos;
  private long longestNanos;
  private long withheld;

  private record Waiting(StackReservation reservation, int blocks, Runnable go) {}

  OffloadQueue(StackBooks books, LongSupplier nanos) {
    this.books = books;
    this.nanos = nanos;
    this.most = books.options.tiering().mostQueued(books.blockBytes());
  }

  /// Runs `go` when `count` more may come; fails `reservation` if too many wait already. Not under the lock.
  void admit(StackReservation reservation, int count, Runnable go) {
    synchronized (books.lock) {
      books.requireOpen();
      if (!line.isEmpty() || isFull(count)) {
        stand(new Waiting(reservation, count, go));
        return;
      }
    }
    go.run();
  }

  private void stand(Waiting waiting) {
    line.removeIf(each -> each.reservation().isClosed());
    if (line.size() >= books.options.maxWaiters()) {
      throw new BudgetExhaustedException("queue of blocks for the disk", waiting.blocks(), Math.max(0, most - blocks),
          books.options.maxWaiters());
    }
    withheld++;
    line.add(waiting);
  }

  /// Under the lock.
  boolean isEmpty() {
    return blocks == 0;
  }

  private boolean isFull(int more) {
    return blocks > 0 && more > most - blocks;
  }

  private void letIn() {
    while (true) {
      Waiting next;
      synchronized (books.lock) {
        next = line.peek();
        if (next == null || (isFull(next.blocks()) && !next.reservation().isClosed())) {
          return;
        }
        line.remove();
      }
      if (!next.reservation().isClosed()) {
        next.go().run();
      }
    }
  }

  /// `turn`, counted until its end. Under the lock.
  PutLine.Turn counted(PutLine.Turn turn) {
    return new Counted(turn, turn.blocks().size(), nanos.getAsLong());
  }

  private final class Counted implements PutLine.Turn {
    private final PutLine.Turn turn;
    private final int count;
    private final long since;

    Counted(PutLine.Turn turn, int count, long since) {
      this.turn = turn;
      this.count = count;
      this.since = since;
      blocks += count;
      peak = Math.max(peak, blocks);
    }

    @Override
    public List<Block> blocks() {
      return turn.blocks();
    }

    @Override
    public void done(List<StoredBlock> rests, Aftermath after) {
      left(after);
      turn.done(rests, after);
    }

    @Override
    public void failed(Throwable error, Aftermath after) {
      left(after);
      turn.failed(error, after);
    }

    private void left(Aftermath after) {
      blocks -= count;
      long waited = nanos.getAsLong() - since;
      waitedNanos += waited * count;
      longestNanos = Math.max(longestNanos, waited);
      if (!line.isEmpty()) {
        after.then(starts::more);
      }
    }
  }

  /// Fails whoever waits. Under the lock.
  void close(Aftermath after) {
    TierClosedException reason = books.closedException();
    line.forEach(each -> after.then(() -> each.reservation().fail(reason)));
    line.clear();
  }

  /// Adds the other figures to its own.
  TieringStat stat(long held, long prefetched, long useful, long wasted, long givenBack) {
    return new TieringStat(blocks, blocks * books.blockBytes(), peak, most, waitedNanos / NANOS_A_MILLI,
        longestNanos / NANOS_A_MILLI,
        withheld, held, prefetched, useful, wasted, givenBack);
  }
}
