package io.penstock.stack.move;

import io.penstock.block.Block;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.operator.SerialLoop;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.Reservation.RoomTimeoutException;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.spi.StoredBlock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.LongSupplier;

/// Counts the blocks of a `TierStack` that wait for a disk or are being written to it. Holds back reservations while
/// there are too many.
///
/// A reservation is admitted when the queue has room for its blocks, or is empty. It holds no room in the queue,
/// because its blocks, or the blocks that they evict from memory, reach the disk later or never. Hence the queue can
/// exceed its bound by the number of memory slots. Blocks that a lease admits, and promoted blocks, do not wait here;
/// their memory bounds them. Used in decisions only, except [#admit].
public final class OffloadQueue {
  private static final String NAME = "write queue of the disk";

  private final Decisions decisions;
  private final StackShape shape;
  private final StackFigures figures;
  private final LongSupplier nanos;
  private final long most;
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private final SerialLoop admissions = new SerialLoop(this::admitWaiting);
  private long blocks;

  /// A writer that may have to wait here.
  public interface Writer {
    /// It waits here, or does so no more.
    void queued(boolean now);

    boolean isClosed();

    /// Ends it. Outside a decision.
    void fail(Throwable error);
  }

  private record Waiting(Writer reservation, int blocks, Runnable go) {}

  public OffloadQueue(Decisions decisions, StackShape shape, StackFigures figures, LongSupplier nanos) {
    this.decisions = decisions;
    this.shape = shape;
    this.figures = figures;
    this.nanos = nanos;
    this.most = shape.options().tiering().mostQueued(shape.blockBytes());
    figures.boundQueue(most);
  }

  boolean isEmpty() {
    return blocks == 0;
  }

  /// Runs `go` when the queue has room for `count` more blocks. Outside a decision.
  ///
  /// @throws BudgetExhaustedException if too many reservations wait already
  public void admit(Writer reservation, int count, Runnable go) {
    boolean now = decisions.answer(after -> {
      decisions.requireOpen();
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
    int maxWaiters = shape.options().maxWaiters();
    waiting.removeIf(each -> each.reservation().isClosed());
    if (waiting.size() >= maxWaiters) {
      throw new BudgetExhaustedException(NAME, next.blocks(), free(), maxWaiters);
    }
    waiting.add(next);
    figures.withheld();
    figures.waitForQueue(waiting.size());
    next.reservation().queued(true);
  }

  /// The error of a reservation of `wanted` blocks that has waited here for `timeout`.
  public RoomTimeoutException timeout(int wanted, Duration timeout) {
    return new RoomTimeoutException(NAME, wanted, decisions.look(this::free), timeout);
  }

  /// Ends the wait of `reservation`, if it waits here: the next may continue. Outside a decision.
  public void leave(Writer reservation) {
    boolean left = decisions.answer(after -> {
      boolean removed = waiting.removeIf(each -> each.reservation().equals(reservation));
      figures.waitForQueue(waiting.size());
      return removed;
    });
    if (left) {
      admissions.run();
    }
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
    return decisions.answer(after -> {
      Waiting next = waiting.peek();
      boolean stays = next == null || (isFull(next.blocks()) && !next.reservation().isClosed());
      if (stays) {
        return List.of();
      }
      next.reservation().queued(false);
      waiting.remove();
      figures.waitForQueue(waiting.size());
      return List.of(next);
    });
  }

  /// Fails the reservations that wait.
  public void close(DeferredActions after) {
    TierClosedException reason = shape.closed();
    waiting.forEach(each -> after.then(() -> each.reservation().fail(reason)));
    waiting.clear();
    figures.waitForQueue(0);
  }

  /// Counts the blocks of `write` from now until the write ends.
  WriteQueue.Write counted(WriteQueue.Write write) {
    int count = write.blocks().size();
    blocks += count;
    figures.queue(blocks);
    return new Counted(write, count, nanos.getAsLong());
  }

  private void left(Counted write, DeferredActions after) {
    blocks -= write.count;
    figures.queue(blocks);
    figures.leftQueue(write.count, nanos.getAsLong() - write.since);
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
}
