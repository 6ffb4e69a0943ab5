package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BudgetExhaustedException;
import io.penstock.operator.SerialLoop;
import io.penstock.tier.Reservation.RoomTimeoutException;
import io.penstock.tier.spi.StoredBlock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.LongSupplier;

/// Counts the blocks of a [TierStack] that wait for a disk or are being written to it. Holds back reservations while
/// there are too many.
///
/// A reservation is admitted when the queue has room for its blocks, or is empty. It holds no room in the queue,
/// because its blocks, or the blocks that they evict from memory, reach the disk later or never. Hence the queue can
/// exceed its bound by the number of memory slots. Blocks that a lease admits, and promoted blocks, do not wait here;
/// their memory bounds them. Used in decisions only, except [#admit].
final class OffloadQueue {
  private static final long NANOS_A_MILLI = 1_000_000;
  private static final String NAME = "write queue of the disk";

  private final StackState state;
  private final LongSupplier nanos;
  private final long most;
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private final SerialLoop admissions = new SerialLoop(this::admitWaiting);
  private long blocks;
  private long peak;
  private long waitedNanos;
  private long longestNanos;
  private long withheld;

  private record Waiting(StackReservation reservation, int blocks, Runnable go) {}

  OffloadQueue(StackState state, LongSupplier nanos) {
    this.state = state;
    this.nanos = nanos;
    this.most = state.shape().options().tiering().mostQueued(state.shape().blockBytes());
  }

  boolean isEmpty() {
    return blocks == 0;
  }

  /// Runs `go` when the queue has room for `count` more blocks. Outside a decision.
  ///
  /// @throws BudgetExhaustedException if too many reservations wait already
  void admit(StackReservation reservation, int count, Runnable go) {
    boolean now = state.answer(after -> {
      state.requireOpen();
      if (waiting.isEmpty() && !isFull(count)) {
        return true;
      }
      await(new Waiting(reservation, count, go));
      return false;
    });
    if (now) {
      go.run();
    }
  }

  private void await(Waiting next) {
    int maxWaiters = state.shape().options().maxWaiters();
    waiting.removeIf(each -> each.reservation().isClosed());
    if (waiting.size() >= maxWaiters) {
      throw new BudgetExhaustedException(NAME, next.blocks(), free(), maxWaiters);
    }
    withheld++;
    waiting.add(next);
    next.reservation().queued(true);
  }

  /// The error of a reservation of `wanted` blocks that has waited here for `timeout`.
  RoomTimeoutException timeout(int wanted, Duration timeout) {
    return new RoomTimeoutException(NAME, wanted, state.look(this::free), timeout);
  }

  /// `reservation` has ended: if it waits here, the next may go on. Outside a decision.
  void leave(StackReservation reservation) {
    if (state.answer(after -> waiting.removeIf(each -> each.reservation() == reservation))) {
      admissions.run();
    }
  }

  /// Reservations that wait here.
  int waiting() {
    return waiting.size();
  }

  /// Blocks for which there is room.
  long free() {
    return Math.max(0, most - blocks);
  }

  private boolean isFull(int more) {
    return blocks > 0 && more > most - blocks;
  }

  private void admitWaiting() {
    for (List<Waiting> next = nextAdmitted(); !next.isEmpty(); next = nextAdmitted()) {
      next.stream().filter(each -> !each.reservation().isClosed()).forEach(each -> each.go().run());
    }
  }

  /// Removes and answers the first waiter, if it may go on or has ended; else answers none.
  private List<Waiting> nextAdmitted() {
    return state.answer(after -> {
      Waiting next = waiting.peek();
      boolean stays = next == null || (isFull(next.blocks()) && !next.reservation().isClosed());
      if (stays) {
        return List.of();
      }
      next.reservation().queued(false);
      return List.of(waiting.remove());
    });
  }

  /// Fails the reservations that wait.
  void close(DeferredActions after) {
    TierClosedException reason = state.shape().closed();
    waiting.forEach(each -> after.then(() -> each.reservation().fail(reason)));
    waiting.clear();
  }

  /// Counts the blocks of `write` from now until the write ends.
  WriteQueue.Write counted(WriteQueue.Write write) {
    int count = write.blocks().size();
    blocks += count;
    peak = Math.max(peak, blocks);
    return new Counted(write, count, nanos.getAsLong());
  }

  private void left(Counted write, DeferredActions after) {
    blocks -= write.count;
    long waited = nanos.getAsLong() - write.since;
    waitedNanos += waited * write.count;
    longestNanos = Math.max(longestNanos, waited);
    if (!waiting.isEmpty()) {
      after.then(admissions::run);
    }
  }

  private final class Counted implements WriteQueue.Write {
    private final WriteQueue.Write write;
    private final int count;
    private final long since;

    Counted(WriteQueue.Write write, int count, long since) {
      this.write = write;
      this.count = count;
      this.since = since;
    }

    @Override
    public List<Block> blocks() {
      return write.blocks();
    }

    @Override
    public void done(List<StoredBlock> stored, DeferredActions after) {
      left(this, after);
      write.done(stored, after);
    }

    @Override
    public void failed(Throwable error, DeferredActions after) {
      left(this, after);
      write.failed(error, after);
    }
  }

  /// The figures of this queue, joined with the given figures.
  TierStat.Tiering stat(long held, long prefetched, long useful, long wasted, long evictedForRoom,
      long aboveWatermark) {
    return new TierStat.Tiering(blocks, blocks * state.shape().blockBytes(), peak, most, waitedNanos / NANOS_A_MILLI,
        longestNanos / NANOS_A_MILLI, withheld, held, prefetched, useful, wasted, evictedForRoom,
        aboveWatermark);
  }
}
